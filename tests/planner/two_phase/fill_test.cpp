// The integer program of rollout replicas: by dynamic programming, by trying everything, and by CBC.
#include "planner/two_phase/fill.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "planner/exact/milp.h"

namespace sextant::test {
namespace {

int used(const Filling& filling, const std::vector<FillItem>& items) {
  int devices = 0;
  for (std::size_t i = 0; i < items.size(); ++i) devices += filling.counts[i] * items[i].devices;
  return devices;
}

int worth(const Filling& filling, const std::vector<FillItem>& items) {
  int capacity = 0;
  for (std::size_t i = 0; i < items.size(); ++i) capacity += filling.counts[i] * items[i].capacity;
  return capacity;
}

int best_of_all(const std::vector<FillItem>& items, std::size_t from, int devices) {
  int best = 0;
  for (std::size_t i = from; i < items.size(); ++i) {
    if (items[i].devices <= devices)
      best = std::max(best, items[i].capacity + best_of_all(items, i, devices - items[i].devices));
  }
  return best;
}

TEST(Filling, ByHand) {
  // Three of two and two left over, or one of six and two of one.
  EXPECT_EQ(best_filling({{1, 2}, {2, 5}, {6, 16}}, 8), (Filling{21, {0, 1, 1}}));
  EXPECT_EQ(best_filling({{3, 10}}, 8), (Filling{20, {2}}));
  EXPECT_EQ(best_filling({{4, 0}, {16, 7}}, 8), (Filling{0, {0, 0}}));
}

TEST(Filling, OfEqualsTheFewestReplicas) {
  EXPECT_EQ(best_filling({{1, 3}, {2, 6}, {4, 12}}, 8), (Filling{24, {0, 0, 2}}));
}

TEST(Filling, EqualsEveryFilling) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<FillItem> items;
    for (unsigned k = 0; k < 1 + random() % 5; ++k)
      items.push_back({1 + static_cast<int>(random() % 6), static_cast<int>(random() % 40)});
    const int devices = static_cast<int>(random() % 12);
    const Filling filling = best_filling(items, devices);
    EXPECT_EQ(filling.capacity, best_of_all(items, 0, devices));
    EXPECT_EQ(filling.capacity, worth(filling, items));
    EXPECT_LE(used(filling, items), devices);
  }
}

// The paper's program at a makespan: counts of GPU types in place of machines, which is the same where
// replicas' sizes are powers of two that divide a machine.
TEST(Filling, EqualsTheIntegerProgramOverAllMachines) {
  const auto solver = make_milp_solver();
  if (solver == nullptr) GTEST_SKIP() << "this build has no MILP solver";
  std::mt19937 random(7);
  constexpr int kTypes = 3, kDevices = 8;
  for (int i = 0; i < 30; ++i) {
    MilpProblem problem;
    int capacity = 0;
    for (int type = 0; type < kTypes; ++type) {
      const int machines = 1 + static_cast<int>(random() % 4);
      std::vector<FillItem> items;
      std::vector<MilpTerm> devices;
      for (const int size : {1, 2, 4, 8}) {
        items.push_back({size, static_cast<int>(random() % static_cast<unsigned>(20 * size))});
        // Minimised: what it is worth, negative.
        devices.push_back({problem.add_whole(0, machines * kDevices, -items.back().capacity), 1.0 * size});
      }
      problem.add_row(-kMilpInfinity, devices, machines * kDevices);
      capacity += machines * best_filling(items, kDevices).capacity;
    }
    const MilpSolution solution = solver->solve(problem, {});
    ASSERT_EQ(solution.status, MilpStatus::optimal);
    EXPECT_NEAR(-solution.objective, capacity, 1e-6);
  }
}

}  // namespace
}  // namespace sextant::test
