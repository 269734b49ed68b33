// AReaL-Hex's scheduler as a whole: against all partitions, and what it does with budgets and seeds.
#include "planner/two_phase/two_phase.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/two_phase/repartition.h"
#include "planner/verify/verify.h"
#include "tests/planner/exact/unit_space_case.h"
#include "tests/planner/neutral.h"
#include "tests/planner/two_phase/hex_case.h"

namespace sextant::test {
namespace {

Workflow with_uneven_lengths(Workflow workflow) {
  workflow.response_tokens = {};
  workflow.response_tokens.kind = LengthKind::lognormal;
  workflow.response_tokens.median = 700;
  workflow.response_tokens.sigma = 0.8;
  workflow.response_tokens.max = 8192;
  return workflow;
}

Execution of_an_engine() {
  Execution execution;
  execution.packed = true;
  execution.continuous_batching = true;
  execution.fused_attention = true;
  return execution;
}

std::vector<SmallCase> hex_cases() {
  std::vector<SmallCase> cases = small_cases();
  const auto async = Mode::asynchronous;
  cases.push_back({"hex", hex_cluster(1, 1, 4), small_grpo(async)});
  cases.push_back({"hex_sync", hex_cluster(1, 1, 4), small_grpo()});
  cases.push_back({"hex_lengths", hex_cluster(1, 1, 4), with_uneven_lengths(small_grpo(async))});
  cases.push_back({"hex_8b", hex_cluster(1, 1), hex_grpo(async)});
  cases.push_back({"hex_ppo", hex_cluster(1, 1, 4), small_ppo(async)});
  return cases;
}

class TwoPhase : public ::testing::TestWithParam<SmallCase> {
 protected:
  [[nodiscard]] PlanRequest request() const {
    PlanRequest request = request_of(GetParam(), kNeutral);
    if (GetParam().workflow.response_tokens.kind == LengthKind::lognormal)
      request.choices.assign(GetParam().workflow.tasks.size(), one_choice(of_an_engine()));
    return request;
  }
};

TEST_P(TwoPhase, IsNearTheBestPartition) {
  const PlanRequest asked = request();
  const PlanResult guided = plan_by_two_phase(asked), all = plan_by_all_partitions(asked);
  ASSERT_EQ(guided.outcome, PlanOutcome::found) << guided.message;
  ASSERT_EQ(all.outcome, PlanOutcome::found) << all.message;
  constexpr double kPromised = 0.01;
  EXPECT_LE(guided.prediction->iteration_s, all.prediction->iteration_s * (1 + kPromised));
  for (const PlanResult& result : {guided, all}) {
    EXPECT_NO_THROW(check_plan(*result.plan, asked.workflow, asked.cluster));
    const Verdict verdict = verify_plan(asked.cluster, asked.workflow, *result.plan, kNeutral);
    EXPECT_TRUE(verdict.feasible()) << describe(verdict.violations.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, TwoPhase, ::testing::ValuesIn(hex_cases()),
                         [](const auto& tested) { return tested.param.name; });

// The point of the paper: GPUs with memory bandwidth generate, those with arithmetic train.
TEST(TwoPhasePlans, MatchTasksWithGpus) {
  const Cluster cluster = hex_cluster(1, 1);
  Workflow workflow = hex_grpo();
  workflow.response_tokens = fixed_length(8192);  // long responses: generation decides
  const PlanRequest request{cluster, workflow, kNeutral};
  const PlanResult result = plan_by_two_phase(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  double training = 0, rollout = 0;  // H20 of each side
  for (const DeviceId device : result.plan->tasks.at(task_names::kActorTraining).devices())
    training += cluster.type_name(device) == "h20" ? 1 : 0;
  for (const DeviceId device : result.plan->tasks.at(task_names::kActorGeneration).devices())
    rollout += cluster.type_name(device) == "h20" ? 1 : 0;
  EXPECT_GT(rollout, training);
}

// The binary search ends where neither side waits: C_T and C_I on either side of each other.
TEST(TwoPhasePlans, BinarySearchBalancesTheSides) {
  const Cluster cluster = hex_cluster(2, 2);
  const Workflow workflow = hex_grpo();
  const PlanRequest request{cluster, workflow, kNeutral};
  SearchRun run(request, 0);
  const PartitionGraph graph(request, 64);
  const Costing costing(request, workflow);
  Repartition repartition(run, costing, graph, true);
  const double gamma = repartition.binary_search();
  EXPECT_LE(repartition.looked_at(), 10U);  // halving sixteen H800 and sixteen H20
  const double aside = 2 * graph.largest_unit_fraction();
  const PartitionCost fewer = repartition.cost(graph.best_at(gamma - aside));
  const PartitionCost more = repartition.cost(graph.best_at(gamma + aside));
  EXPECT_GT(fewer.training_s, fewer.rollout_s);
  EXPECT_LT(more.training_s, more.rollout_s);
}

// Policy and value trained side by side, on devices of their own.
TEST(TwoPhasePlans, CriticGetsDevicesOfItsOwnWhereThatIsFaster) {
  const Cluster cluster = hex_cluster(2, 2);
  const Workflow workflow = ppo_8b(Mode::asynchronous);
  const PlanRequest request{cluster, workflow, kNeutral};
  SearchRun run(request, 0);
  const PartitionGraph graph(request, 64);
  const Costing costing(request, workflow);
  Repartition repartition(run, costing, graph, true);
  (void)repartition.binary_search();
  const double together_s = repartition.best_s();
  repartition.deal_values();
  const PlanResult result = run.result("test");
  EXPECT_LT(result.prediction->iteration_s, 0.99 * together_s);
  EXPECT_TRUE(verify_plan(cluster, workflow, *result.plan, kNeutral).feasible());
  const std::set<DeviceId> policy = result.plan->tasks.at(task_names::kActorTraining).devices();
  for (const DeviceId device : result.plan->tasks.at(task_names::kCriticTraining).devices())
    EXPECT_FALSE(policy.contains(device)) << device.value;
  EXPECT_FALSE(trains_values(hex_grpo()));  // a reward model's head is not trained
}

TEST(TwoPhasePlans, OneSideHasAllDevices) {
  const Cluster cluster = hex_cluster(1, 0, 2);
  Workflow workflow = small_grpo(Mode::asynchronous);
  workflow.algorithm = Algorithm::custom;
  workflow.tasks = {workflow.task(task_names::kActorTraining)};
  workflow.tasks.front().after.clear();
  workflow.models = {{"actor", workflow.models.at("actor")}};
  const PlanResult result = plan_by_two_phase({cluster, workflow, kNeutral});
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_EQ(result.plan->tasks.begin()->second.devices().size(), 2U);
}

TEST(TwoPhasePlans, SameSeedSamePlanOfSampledLengths) {
  const Cluster cluster = hex_cluster(1, 1, 4);
  const Workflow workflow = with_uneven_lengths(small_grpo(Mode::asynchronous));
  PlanRequest request{cluster, workflow, kNeutral};
  request.choices.assign(workflow.tasks.size(), one_choice(of_an_engine()));
  for (const std::uint64_t seed : {1U, 5U}) {
    request.seed = seed;
    const PlanResult first = plan_by_two_phase(request), second = plan_by_two_phase(request);
    EXPECT_EQ(*first.plan, *second.plan);
    EXPECT_EQ(first.candidates, second.candidates);
  }
}

TEST(TwoPhasePlans, KeepToTheirBudgetOfEvaluations) {
  const Cluster cluster = hex_cluster(1, 1);
  const Workflow workflow = with_uneven_lengths(hex_grpo());
  PlanRequest request{cluster, workflow, kNeutral};
  request.choices.assign(workflow.tasks.size(), one_choice(of_an_engine()));
  std::uint64_t before = 0;
  for (const std::uint64_t evaluations : {50U, 150U}) {
    request.budget.evaluations = evaluations;
    const PlanResult result = plan_by_two_phase(request);
    EXPECT_LE(result.candidates, evaluations);
    EXPECT_GT(result.candidates, before);
    before = result.candidates;
  }
}

}  // namespace
}  // namespace sextant::test
