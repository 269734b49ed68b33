// HetRL's Algorithm 1 alone and its ablations: how the budget is divided, and what plans are made of.
#include "planner/baselines/sha_ea_paper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "planner/baselines/nested_halving.h"
#include "planner/baselines/sha_ilp.h"
#include "planner/exact/exact.h"
#include "planner/exact/ilp.h"
#include "planner/exact/ilp_model.h"
#include "tests/core/expect_error.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr double kSolverTolerance = 1e-6;  // of MILP solvers, relative

// An arm whose loss is its number.
struct NumberedArm {
  int number = 0;
  std::uint64_t spent = 0;
  [[nodiscard]] Score score() const { return {0, 0, static_cast<double>(number), 0}; }
};

// Four groupings of four arms, 64 plans, two rounds. In the first a grouping has 64 / (4 * 2) = 8 plans: 8 / (4
// * 2) = 1 for each arm, then 8 / (2 * 2) = 2 for each of the better two. Of two groupings with two arms each,
// a grouping then has 64 / (2 * 2) = 16 plans in one round of halving: 8 an arm.
TEST(NestedHalving, DividesTheBudgetAsAlgorithm1) {
  std::vector<HalvedGrouping<NumberedArm>> groupings(4);
  for (int g = 0; g < 4; ++g) {
    for (int arm = 0; arm < 4; ++arm) groupings[static_cast<std::size_t>(g)].arms.push_back({10 * g + 9 - arm});
  }
  std::map<int, std::uint64_t> spent;
  double left = 64;
  halve_nested<NumberedArm>(groupings, {[&] { return left; }, [&] { return left <= 0; }},
                            [&](NumberedArm& arm, std::uint64_t plans) {
                              spent[arm.number] += plans;
                              left -= static_cast<double>(plans);
                            });
  EXPECT_THAT(spent, ElementsAre(Pair(6, 11), Pair(7, 11), Pair(8, 1), Pair(9, 1),      //
                                 Pair(16, 11), Pair(17, 11), Pair(18, 1), Pair(19, 1),  //
                                 Pair(26, 3), Pair(27, 3), Pair(28, 1), Pair(29, 1),    //
                                 Pair(36, 3), Pair(37, 3), Pair(38, 1), Pair(39, 1)));
  EXPECT_EQ(left, 0);
  ASSERT_EQ(groupings.size(), 1U);
  ASSERT_EQ(groupings.front().arms.size(), 1U);
  EXPECT_EQ(groupings.front().arms.front().number, 6);
}

TEST(NestedHalving, EveryArmHasAPlanInEveryRound) {
  EXPECT_EQ(max_arms_within(0), 1U);
  EXPECT_EQ(max_arms_within(7), 3U);  // 3 arms take 2 rounds, 4 as well
  EXPECT_EQ(max_arms_within(8), 4U);
  EXPECT_EQ(max_arms_within(14), 4U);  // 5 arms take 3 rounds
  EXPECT_EQ(max_arms_within(15), 5U);
}

// Tasks of a group have the group's devices, or the first of them; groups share none.
TEST(ShaEaPaper, GroupsAreDisjoint) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 5'000;
  for (request.seed = 1; request.seed <= 3; ++request.seed) {
    const PlanResult result = plan_by_sha_ea_paper(request);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
    EXPECT_LE(result.candidates, request.budget.evaluations);
    for (const auto& [name, task] : result.plan->tasks) {
      for (const auto& [other_name, other] : result.plan->tasks) {
        const std::set<DeviceId> a = task.devices(), b = other.devices();
        const bool shares =
            std::any_of(a.begin(), a.end(), [&](DeviceId device) { return b.contains(device); });
        const bool is_within = std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
                               std::includes(b.begin(), b.end(), a.begin(), a.end());
        EXPECT_TRUE(!shares || is_within) << name << ", " << other_name;
      }
    }
  }
}

// Section 6: halving alone "operates only on predefined arms".
TEST(ShaEaPaper, EvolutionFindsMoreThanRandomPlansInTheSameArms) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 10'000;
  for (request.seed = 1; request.seed <= 3; ++request.seed) {
    const PlanResult evolved = plan_by_sha_ea_paper(request), drawn = plan_by_sha_random(request);
    ASSERT_EQ(evolved.outcome, PlanOutcome::found) << evolved.message;
    ASSERT_EQ(drawn.outcome, PlanOutcome::found) << drawn.message;
    EXPECT_LT(evolved.prediction->iteration_s, drawn.prediction->iteration_s);
  }
}

TEST(ShaEaPaper, RespectsABudgetOfSeconds) {
  const Cluster cluster = mixed_64();
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.seconds = 0.5;
  const PlanResult result = plan_by_sha_ea_paper(request);
  EXPECT_GT(result.candidates, 0U);
  for (const Improvement& improvement : result.improvements) EXPECT_LT(improvement.seconds, 1);
}

// The paper's search knows time alone, and no pins.
TEST(ShaEaPaper, RefusesWhatThePaperDoesNotHave) {
  const Cluster cluster = small_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request{cluster, workflow, kNeutral};
  request.objective.goal = Goal::cost;
  EXPECT_THAT(message_of(ErrorKind::bad_input, [&] { (void)plan_by_sha_ea_paper(request); }),
              HasSubstr("sha-ea-paper"));
}

class ShaIlp : public ::testing::Test {
 protected:
  void SetUp() override {
    if (solver_ == nullptr) GTEST_SKIP() << "this build has no MILP solver";
  }
  const std::unique_ptr<MilpSolver> solver_ = make_milp_solver();
};

TEST_F(ShaIlp, AnArmsProgramHasItsGroupsAlone) {
  const Cluster cluster = small_cluster();
  const Workflow workflow = small_workflow();
  const PlanRequest request{cluster, workflow, kNeutral};
  UnitSpace space(request, 4);
  const SyncCost sync(space);
  const IlpGroups groups{{{0, 1, 0}, 2}, {3, 1}};
  IlpModel model(space, sync);
  model.fix_groups(groups);
  const IlpAnswer answer = solve_ilp(space, sync, model, {}, *solver_);
  ASSERT_TRUE(answer.found.has_value());
  EXPECT_TRUE(answer.is_proved);
  EXPECT_EQ(answer.found->tasks[0].devices.size(), 3U);
  EXPECT_EQ(answer.found->tasks[1].devices.size(), 1U);
  EXPECT_EQ(answer.found->tasks[2].devices.size(), 3U);
}

// With a budget that solves every arm, the best arm has the best plan of all that leave no unit idle.
TEST_F(ShaIlp, FindsTheOptimumWhenAllArmsAreSolved) {
  const Cluster cluster = small_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 3};
  const PlanResult best = plan_exactly(request);
  ASSERT_EQ(best.proof, Proof::optimal);
  request.budget.evaluations = 1'000'000;
  const PlanResult result = plan_by_sha_ilp(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_NEAR(result.prediction->iteration_s, best.prediction->iteration_s,
              kSolverTolerance * best.prediction->iteration_s);
}

}  // namespace
}  // namespace sextant::test
