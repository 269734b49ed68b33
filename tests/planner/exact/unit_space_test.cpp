// The blocks of an assignment's groups against the devices that they get; and the integer program's assignments
// against all assignments.
#include "planner/exact/unit_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "planner/exact/ilp_deal.h"
#include "tests/planner/exact/unit_space_case.h"

namespace sextant::test {
namespace {

using ::testing::Contains;

// All shares of `groups` groups, none empty, units left over or not.
void for_each_deal(const UnitSpace& space, int groups,
                   const std::function<void(const std::vector<int>&)>& found) {
  std::vector<int> shares;
  const std::function<void(int)> deal = [&](int left) {
    if (static_cast<int>(shares.size()) == groups) return found(shares);
    for (int share = 1; share <= left; ++share) {
      if (!space.is_within(share, left)) continue;
      shares.push_back(share);
      deal(left - share);
      shares.pop_back();
    }
  };
  deal(space.share_count() - 1);
}

TEST(UnitSpace, SharesAreNumberedByUnits) {
  const Cluster cluster = cluster_of({{"a100", 1, 4}, {"l4", 2, 4}});
  const Workflow workflow = small_grpo();
  const Coefficients coefficients;
  const PlanRequest request{cluster, workflow, coefficients};
  const UnitSpace space(request, 12);
  ASSERT_EQ(space.classes().size(), 2U);
  EXPECT_EQ(space.share_count(), 5 * 9);
  const int share = 3 + 2 * space.radix(1);
  EXPECT_EQ(space.units_of(share), (UnitShare{3, 2}));
  EXPECT_EQ(space.size_of(share), 5);
  EXPECT_TRUE(space.is_within(share, space.share_count() - 1));
  EXPECT_FALSE(space.is_within(share, 2 + 8 * space.radix(1)));
}

// A block's options cost what they cost on the devices that the group really gets.
TEST(UnitSpace, BlocksStandForTheDevicesOfTheirGroups) {
  const Workflow workflow = small_grpo();
  const Coefficients coefficients;
  for (const Cluster& cluster : {cluster_of({{"l40s", 2, 3}}), cluster_of({{"a100", 2, 4}}),
                                 cluster_of({{"a100", 2, 2}, {"l4", 1, 2, "z2"}})}) {
    PlanRequest request{cluster, workflow, coefficients};
    request.limits.micro_batch_sequences = {4};
    UnitSpace space(request, cluster.device_count());
    Evaluator evaluator({cluster, workflow, coefficients, request.framework, {}, {}});
    for_each_deal(space, 3, [&](const std::vector<int>& shares) {
      const std::vector<int> blocks = space.blocks_of_deal(shares);
      const auto devices = space.devices_of_deal(shares);
      for (std::size_t g = 0; g < shares.size(); ++g) {
        ASSERT_THAT(space.blocks_of(shares[g]), Contains(blocks[g]));
        for (int t = 0; t < space.tasks(); ++t) {
          for (const ExactOption& option : space.options(t, blocks[g])) {
            const Shape& shape = space.evaluator().shapes(t).at(option.shape);
            const int position = evaluator.shapes(t).add(shape);
            const TaskValue value = evaluator.value_of(t, placed(shape, position, option.order, devices[g]));
            ASSERT_NEAR(value.time_s, option.value.time_s, 1e-9 * value.time_s);
            ASSERT_NEAR(value.slowest_gather_s, option.value.slowest_gather_s, 1e-9);
          }
        }
      }
    });
  }
}

// With any costs of blocks the integer program's best deal is the best of all groupings and deals.
TEST(IlpAssignment, FindsTheBestOfAllDeals) {
  const auto solver = make_milp_solver();
  if (solver == nullptr) GTEST_SKIP() << "this build has no MILP solver (SEXTANT_CBC)";
  const Workflow workflow = small_grpo();
  const Coefficients coefficients;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> drawn(-1, 0.2);
  for (int round = 0; round < 12; ++round) {
    const Cluster cluster = round % 3 == 0   ? cluster_of({{"l40s", 2, 3}})
                            : round % 3 == 1 ? cluster_of({{"a100", 2, 4}})
                                             : cluster_of({{"a100", 2, 2}, {"l4", 1, 2, "z2"}});
    const PlanRequest request{cluster, workflow, coefficients};
    UnitSpace space(request, cluster.device_count());
    MilpProblem problem;
    const IlpAssignment deal(space, problem);
    // Costs by slot, then block.
    std::vector<std::vector<double>> costs(static_cast<std::size_t>(deal.slots()));
    const int sum = problem.add_variable(-kMilpInfinity, kMilpInfinity, 1);
    MilpTerms terms{{sum, 1}};
    for (int slot = 0; slot < deal.slots(); ++slot) {
      for (int block = 0; block < deal.blocks(); ++block) {
        costs[static_cast<std::size_t>(slot)].push_back(drawn(random));
        terms.push_back({deal.has_block(slot, block), -costs[static_cast<std::size_t>(slot)].back()});
      }
    }
    problem.add_row(0, terms, kMilpInfinity);
    double best = kMilpInfinity;
    for (const TaskGrouping& grouping : task_groupings(space.tasks())) {
      std::vector<std::size_t> slot_of(static_cast<std::size_t>(grouping.groups));  // a group's first task
      for (std::size_t t = grouping.group_of.size(); t-- > 0;)
        slot_of[static_cast<std::size_t>(grouping.group_of[t])] = t;
      for_each_deal(space, grouping.groups, [&](const std::vector<int>& shares) {
        const std::vector<int> blocks = space.blocks_of_deal(shares);
        double cost = 0;
        for (std::size_t g = 0; g < blocks.size(); ++g)
          cost += costs[slot_of[g]][static_cast<std::size_t>(blocks[g])];
        best = std::min(best, cost);
      });
    }
    const MilpSolution solution = solver->solve(problem, {});
    EXPECT_EQ(solution.status, MilpStatus::optimal);
    EXPECT_NEAR(solution.objective, best, 1e-6) << round;
  }
}

}  // namespace
}  // namespace sextant::test
