// Equation 3: which devices train at a given share of the arithmetic.
#include "planner/two_phase/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/planner/neutral.h"
#include "tests/planner/two_phase/hex_case.h"

namespace sextant::test {
namespace {

class Partitions : public ::testing::Test {
 protected:
  Cluster cluster_ = hex_cluster(2, 2, 4);
  Workflow workflow_ = hex_grpo();
  PlanRequest request_{cluster_, workflow_, kNeutral};
  PartitionGraph graph_{request_, 64};

  // The formula of section 4.3, over all pairs of devices.
  [[nodiscard]] double guide_by_pairs(const DeviceSplit& split) const {
    const auto bandwidth = [&](const std::vector<DeviceId>& devices) {
      double sum = 0;
      for (const DeviceId a : devices) {
        for (const DeviceId b : devices) sum += a < b ? cluster_.link(a, b).bytes_per_s.value : 0;
      }
      return sum;
    };
    const auto memory = [&](const std::vector<DeviceId>& devices) {
      double sum = 0;
      for (const DeviceId d : devices) sum += cluster_.type_of(d).memory_bytes_per_s.value;
      return sum;
    };
    std::vector<DeviceId> all = split.training;
    all.insert(all.end(), split.rollout.begin(), split.rollout.end());
    std::sort(all.begin(), all.end());
    return bandwidth(split.training) / bandwidth(all) + memory(split.rollout) / memory(all);
  }
};

TEST_F(Partitions, AreAllWhereTheyAreFew) {
  EXPECT_EQ(graph_.count(), 9 * 9 - 2);
  EXPECT_EQ(graph_.partitions().size(), 79U);
}

TEST_F(Partitions, DealEveryDeviceOnce) {
  for (const Partition& partition : graph_.partitions()) {
    const DeviceSplit split = graph_.split_of(partition);
    EXPECT_FALSE(split.training.empty());
    EXPECT_FALSE(split.rollout.empty());
    std::vector<DeviceId> all = split.training;
    all.insert(all.end(), split.rollout.begin(), split.rollout.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), 16U);
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  }
}

TEST_F(Partitions, ValueTakesOfTraining) {
  const DeviceSplit split = graph_.split_of({5, 3}, {2, 3});
  EXPECT_EQ(split.training.size(), 3U);
  EXPECT_EQ(split.value.size(), 5U);
  EXPECT_EQ(split.rollout, graph_.split_of({5, 3}).rollout);
  EXPECT_EQ(split.value.front(), DeviceId{3});
}

TEST_F(Partitions, GuideIsThatOfThePaper) {
  for (const Partition& partition : graph_.partitions())
    EXPECT_NEAR(graph_.guide(partition), guide_by_pairs(graph_.split_of(partition)), 1e-12);
}

TEST_F(Partitions, GuideIsMaximisedAtAShareOfTheArithmetic) {
  for (const double wanted : {0.1, 0.42, 0.5, 0.84, 0.95}) {
    const Partition best = graph_.best_at(wanted);
    const double within =
        std::max(0.5 * graph_.largest_unit_fraction(), std::abs(graph_.compute_fraction(best) - wanted));
    for (const Partition& other : graph_.partitions()) {
      const bool is_near = std::abs(graph_.compute_fraction(other) - wanted) <= within;
      EXPECT_LE(is_near ? graph_.guide(other) : 0, graph_.guide(best) + 1e-12);
    }
  }
}

// H20 have the memory bandwidth and H800 the arithmetic: at the H800s' share of it they are what trains.
TEST_F(Partitions, ArithmeticTrainsAndMemoryBandwidthRollsOut) {
  const double of_h800 = 756.0 / (756 + 148);
  EXPECT_EQ(graph_.best_at(of_h800), (Partition{8, 0}));
}

TEST_F(Partitions, NeighboursAreOthersAndReachAll) {
  std::vector<Partition> reached{graph_.partitions().front()};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Partition& neighbour : graph_.neighbours(reached[i])) {
      EXPECT_NE(neighbour, reached[i]);
      if (std::find(reached.begin(), reached.end(), neighbour) == reached.end()) reached.push_back(neighbour);
    }
    ASSERT_LE(reached.size(), 79U);
  }
  EXPECT_EQ(reached.size(), 79U);
}

TEST(LargeClusters, PartitionsAreListedByTheStep) {
  const Cluster cluster = cluster_of({{"a100", 64}, {"l40s", 64}, {"l4", 64, 8, "z2"}});
  const Workflow workflow = hex_grpo();
  const PlanRequest request{cluster, workflow, kNeutral};
  const PartitionGraph graph(request, 64);
  EXPECT_GT(graph.count(), 200'000);
  EXPECT_LE(graph.partitions().size(), 50'000U);
  EXPECT_GT(graph.partitions().size(), 1'000U);
  EXPECT_NEAR(graph.compute_fraction(graph.best_at(0.5)), 0.5, 0.05);
}

}  // namespace
}  // namespace sextant::test
