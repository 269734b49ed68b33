// Costs of plans, and the machines to rent.
#include "planner/two_phase/dollars.h"

#include <gtest/gtest.h>

#include "planner/two_phase/two_phase.h"
#include "planner/verify/verify.h"
#include "sextant/error.h"
#include "sextant/planners.h"
#include "tests/planner/exact/unit_space_case.h"
#include "tests/planner/neutral.h"
#include "tests/planner/two_phase/hex_case.h"

namespace sextant::test {
namespace {

TaskPlan on(int first, int count, int layers) {
  TaskPlan plan;
  plan.replicas = expand_layout({count, 1, 1, DeviceId{first}}, layers);
  return plan;
}

// Two H800 train, three H20 generate; reference and reward share the H800.
Plan five_devices() {
  Plan plan;
  plan.tasks = {{task_names::kActorTraining, on(0, 2, 16)},
                {task_names::kReferenceInference, on(0, 2, 16)},
                {task_names::kRewardInference, on(1, 1, 16)},
                {task_names::kActorGeneration, on(4, 3, 16)}};
  return plan;
}

TEST(Dollars, AreThoseOfTheDevicesThatAPlanUses) {
  const Cluster cluster = hex_cluster(1, 1, 4);
  Workflow workflow = small_grpo(Mode::asynchronous);
  workflow.prompts = 100;
  workflow.prompt_tokens = fixed_length(30);
  workflow.response_tokens = fixed_length(70);
  const auto dollars = dollars_of(cluster, workflow, five_devices(), 36);
  ASSERT_TRUE(dollars.has_value());
  EXPECT_NEAR(dollars->usd_per_hour, 2 * 5.28 + 3 * 1.85, 1e-12);
  EXPECT_NEAR(dollars->usd_per_iteration, 0.1611, 1e-12);
  EXPECT_NEAR(dollars->usd_per_token, 0.1611 / 10'000, 1e-15);
  EXPECT_NEAR(dollars->tokens_per_usd, 10'000 / 0.1611, 1e-6);
  Prediction prediction;
  prediction.tasks[task_names::kActorGeneration].time_s = 20;
  prediction.tasks[task_names::kActorTraining].time_s = 18;
  const auto of_task = [&](const char* task) {
    return *task_usd_per_token(cluster, workflow, five_devices(), prediction, task);
  };
  EXPECT_NEAR(of_task(task_names::kActorGeneration), 3 * 1.85 * 20 / 3600 / 7000, 1e-15);
  EXPECT_NEAR(of_task(task_names::kActorTraining), 2 * 5.28 * 18 / 3600 / 10'000, 1e-15);
}

TEST(Dollars, AreNotKnownWithoutPrices) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = small_grpo();
  EXPECT_FALSE(dollars_of(cluster, workflow, five_devices(), 36).has_value());
  EXPECT_THROW((void)plan_within_budget({cluster, workflow, kNeutral}, 100), Error);
}

TEST(Rented, KeepsMachinesAndTheirLinks) {
  const LinkRate slow{assumed(1), assumed(1e6)};
  const Cluster cluster =
      cluster_of({{"a100", 2}, {"l4", 2}}, {{LinkScope::node, "a100-z1-0", "a100-z1-1", slow, true},
                                            {LinkScope::node, "a100-z1-0", "l4-z1-0", slow, true}});
  ASSERT_EQ(machine_classes(cluster).size(), 4U);  // exceptions tell them apart
  const Cluster kept = rented(cluster, {1, 1, 0, 1}).cluster;
  ASSERT_EQ(kept.nodes().size(), 3U);
  EXPECT_EQ(kept.nodes().back().name, "l4-z1-1");
  EXPECT_EQ(kept.exceptions().size(), 1U);
  EXPECT_EQ(kept.link(DeviceId{0}, DeviceId{8}), slow);
}

// No choice of machines that the budget pays for has a faster plan.
TEST(PlanWithinBudget, IsTheBestOfAllRentals) {
  const Cluster cluster = hex_cluster(2, 2, 2);
  const Workflow workflow = small_grpo(Mode::asynchronous);
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 8};
  constexpr double kBudget = 18;  // a machine costs 10.56 or 3.70
  const RentedPlan best = plan_within_budget(request, kBudget);
  ASSERT_EQ(best.result.outcome, PlanOutcome::found) << best.result.message;
  EXPECT_LE(best.usd_per_hour, kBudget);
  EXPECT_TRUE(verify_plan(best.part.cluster, workflow, *best.result.plan, kNeutral).feasible());
  double fastest_s = 1e300;
  for (int h800 = 0; h800 <= 2; ++h800) {
    for (int h20 = 0; h20 <= 2; ++h20) {
      if (h800 + h20 == 0 || 10.56 * h800 + 3.7 * h20 > kBudget) continue;
      const Cluster part = rented(cluster, {h800, h20}).cluster;
      PlanRequest of_part{part, workflow, kNeutral};
      of_part.limits = request.limits;
      const PlanResult result = plan_by_two_phase(of_part);
      if (result.outcome == PlanOutcome::found) fastest_s = std::min(fastest_s, result.prediction->iteration_s);
    }
  }
  constexpr double kGuided = 0.01;  // more machines can be planned worse, by what two phases lose
  EXPECT_LE(best.result.prediction->iteration_s, fastest_s * (1 + kGuided));
  EXPECT_GE(best.result.prediction->iteration_s, fastest_s * (1 - 1e-9));
}

// The planner's answer: on the whole cluster's devices, for no more than the limit.
TEST(PlanWithinBudget, IsWhatThePlannerMakesOfALimit) {
  const Cluster cluster = hex_cluster(2, 2, 2);
  const Workflow workflow = small_grpo(Mode::asynchronous);
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 8};
  request.objective.max_usd_per_hour = 18;
  const Planner& planner = *find_planner("two-phase");
  const PlanResult result = planner.plan(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_LE(rented_by(*result.plan, cluster).usd_per_hour, 18);
  const RentedPlan best =
      plan_within_budget({cluster, workflow, kNeutral, std::string(kAny), request.limits}, 18);
  EXPECT_NEAR(result.prediction->iteration_s, best.result.prediction->iteration_s, 1e-9);
  request.objective.max_iteration_s = 1;
  EXPECT_THROW((void)planner.plan(request), Error);
}

TEST(PlanWithinBudget, SaysSoWhereItPaysForNothing) {
  const Cluster cluster = hex_cluster(1, 1, 2);
  const Workflow workflow = small_grpo(Mode::asynchronous);
  const RentedPlan none = plan_within_budget({cluster, workflow, kNeutral}, 3);
  EXPECT_EQ(none.result.outcome, PlanOutcome::infeasible);
  EXPECT_FALSE(none.result.message.empty());
}

}  // namespace
}  // namespace sextant::test
