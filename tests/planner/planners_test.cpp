// One contract for all planners: whatever they are asked, plans that hold, costs that are the model's, the same
// answer twice, and an end when someone cancels.
#include "sextant/planners.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "planner/exact/bound.h"
#include "planner/exact/exhaustive.h"
#include "planner/verify/verify.h"
#include "sextant/predict.h"
#include "tests/core/thoroughness.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

constexpr double kSolverTolerance = 1e-6;  // of MILP solvers, relative

// Two machines, three devices: small enough for the exhaustive search.
Cluster tiny_cluster(double memory_bytes = 1e6) {
  return Cluster("tiny",
                 {{"fast", device_type(100, 50, memory_bytes)}, {"slow", device_type(40, 30, memory_bytes)}},
                 {node("a", "fast", 2), node("b", "slow", 1)},
                 {{LinkLevel::within_node, link_rate(0.1, 100)}, {LinkLevel::within_zone, link_rate(0.5, 50)}});
}

PlanRequest request_of(const Cluster& cluster, const Workflow& workflow) {
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 3};
  constexpr std::uint64_t kEnough = 4000;
  request.budget.evaluations = kEnough;
  return request;
}

// A candidate with the plan's own shapes and devices, so that the evaluator can be asked about it.
Candidate candidate_of(const Plan& plan, const Workflow& workflow, Evaluator& evaluator) {
  Candidate candidate;
  for (int t = 0; t < evaluator.task_count(); ++t) {
    const TaskPlan& task = plan.tasks.at(workflow.tasks[static_cast<std::size_t>(t)].name);
    Shape shape;
    shape.tensor_parallel = task.replicas.front().stages.front().width();
    shape.micro_batch_sequences = task.micro_batch_sequences;
    shape.decode_batch_sequences = task.decode_batch_sequences;
    shape.recompute = task.recompute;
    for (const Stage& stage : task.replicas.front().stages) shape.layers.push_back(stage.layers);
    shape.sequences = replica_sequences(task, workflow.sequences());
    Placement placement;
    placement.shape = evaluator.shapes(t).add(shape);
    for (const Replica& replica : task.replicas) {
      for (const DeviceId device : replica.devices())
        placement.devices.push_back(static_cast<std::uint16_t>(device.value));
    }
    candidate.tasks.push_back(std::move(placement));
  }
  return candidate;
}

// Replicas and stages of a task are cut alike, as candidates have them.
bool is_candidate(const Plan& plan) {
  return std::all_of(plan.tasks.begin(), plan.tasks.end(), [](const auto& named) {
    const std::vector<Replica>& replicas = named.second.replicas;
    return std::all_of(replicas.begin(), replicas.end(), [&](const Replica& replica) {
      const std::vector<Stage>& first = replicas.front().stages;
      return std::equal(replica.stages.begin(), replica.stages.end(), first.begin(), first.end(),
                        [&](const Stage& a, const Stage& b) {
                          return a.layers == b.layers && a.width() == first.front().width() &&
                                 a.width() == b.width();
                        });
    });
  });
}

void expect_sound(const PlanResult& result, const PlanRequest& request) {
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_NO_THROW(check_plan(*result.plan, request.workflow, request.cluster));
  const Prediction again = predict(request.cluster, request.workflow, *result.plan, request.coefficients);
  EXPECT_EQ(again.iteration_s, result.prediction->iteration_s);
  for (const DeviceMemory& memory : again.memory)
    EXPECT_LE(memory.needed_bytes(), memory.capacity_bytes) << memory.device.value;
  const Verdict verdict = verify_plan(request.cluster, request.workflow, *result.plan, request.coefficients);
  EXPECT_TRUE(verdict.feasible()) << describe(verdict.violations.front());
  if (is_candidate(*result.plan)) {
    Evaluator evaluator({request.cluster, request.workflow, request.coefficients});
    const Score score = evaluator.evaluate(candidate_of(*result.plan, request.workflow, evaluator));
    EXPECT_TRUE(score.fits());
    EXPECT_NEAR(score.time_s, again.iteration_s, kRounding * again.iteration_s);
  }
  EXPECT_GE(result.candidates, result.feasible);
  EXPECT_GE(result.feasible, 1U);
}

// Ever better, ever later, and the last is the plan.
void expect_curve(const PlanResult& result) {
  ASSERT_FALSE(result.improvements.empty());
  for (std::size_t i = 1; i < result.improvements.size(); ++i) {
    EXPECT_LT(result.improvements[i].iteration_s, result.improvements[i - 1].iteration_s);
    EXPECT_GE(result.improvements[i].evaluations, result.improvements[i - 1].evaluations);
  }
  EXPECT_NEAR(result.improvements.back().iteration_s, result.prediction->iteration_s,
              kRounding * result.prediction->iteration_s);
}

// Statements about plans that were not evaluated are consistent; planners that only search make none.
void expect_proof(const PlanResult& result, const PlannerTraits& traits) {
  if (!traits.proves) {
    EXPECT_EQ(result.proof, Proof::none);
    EXPECT_TRUE(std::isinf(result.gap_fraction));
    return;
  }
  EXPECT_NE(result.proof, Proof::none);
  EXPECT_LE(result.lower_bound, result.prediction->iteration_s * (1 + kRounding));
  EXPECT_NEAR(result.gap_fraction, result.prediction->iteration_s / result.lower_bound - 1, kRounding);
  if (result.proof == Proof::optimal) {
    EXPECT_LE(result.gap_fraction, kSolverTolerance);
  }
}

class EveryPlanner : public ::testing::TestWithParam<Planner> {
 protected:
  void SetUp() override {
    if (!GetParam().traits.is_built()) GTEST_SKIP() << "not in this build";
  }
  [[nodiscard]] PlanResult planned(const PlanRequest& request) const { return GetParam().plan(request); }
  [[nodiscard]] const PlannerTraits& traits() const { return GetParam().traits; }
  [[nodiscard]] bool is_too_small_for(const Cluster& cluster) const {
    return GetParam().max_devices > 0 && cluster.device_count() > GetParam().max_devices;
  }
};

TEST_P(EveryPlanner, FindsASoundPlanOfASmallCluster) {
  const Cluster cluster = tiny_cluster();
  for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
    const Workflow workflow = small_workflow(mode);
    const PlanRequest request = request_of(cluster, workflow);
    const PlanResult result = planned(request);
    expect_sound(result, request);
    expect_curve(result);
    expect_proof(result, traits());
  }
}

TEST_P(EveryPlanner, FindsASoundPlanOfAMixedCluster) {
  // Three types of GPUs in two zones of one region and another region.
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1, 8, "z2"}, {"l4", 1, 8, "z3", "r2"}});
  if (is_too_small_for(cluster)) GTEST_SKIP() << "plans at most " << GetParam().max_devices << " devices";
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  constexpr std::uint64_t kUntilRandomPlansFit = 12'000, kUsual = 3'000;
  const std::uint64_t kOfAnIntegerProgram = cases_of(20, 300);
  request.budget.evaluations = GetParam().name == "random" ? kUntilRandomPlansFit
                               : GetParam().name == "ilp"  ? kOfAnIntegerProgram
                                                           : kUsual;
  const PlanResult result = planned(request);
  expect_sound(result, request);
  expect_curve(result);
  expect_proof(result, traits());
}

// The exhaustive search deals the batch evenly, if layers in every way; planners that balance load may do
// better.
bool has_even_shares(const Plan& plan) {
  for (const auto& [name, task] : plan.tasks) {
    for (const Replica& replica : task.replicas) {
      if (std::abs(replica.batch_share * task.data_parallel() - 1) > kRounding) return false;
    }
  }
  return true;
}

TEST_P(EveryPlanner, IsNeverBetterThanTheBest) {
  const Cluster cluster = tiny_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request = request_of(cluster, workflow);
  request.limits.try_uneven_stages = true;
  const PlanResult best = plan_exhaustively(request), result = planned(request);
  ASSERT_EQ(best.outcome, PlanOutcome::found);
  EXPECT_GE(result.prediction->iteration_s, min_iteration_s(request) * (1 - kRounding));
  if (has_even_shares(*result.plan)) {
    EXPECT_GE(result.prediction->iteration_s, best.prediction->iteration_s * (1 - kRounding));
  } else {
    EXPECT_TRUE(traits().balances_load);
  }
}

TEST_P(EveryPlanner, FindsWhatFitsInTightMemory) {
  const Cluster cluster = tiny_cluster(9100);  // the states of training alone are 7,680 bytes of one device
  const Workflow workflow = small_workflow();
  const PlanRequest request = request_of(cluster, workflow);
  const PlanResult result = planned(request);
  expect_sound(result, request);
}

// Memory of the runtime is not available for tasks.
TEST_P(EveryPlanner, LeavesRoomForTheRuntime) {
  const Cluster cluster = tiny_cluster(12'100);
  const Workflow workflow = small_workflow();
  PlanRequest neutral = request_of(cluster, workflow);
  Coefficients coefficients;
  Coefficient context;
  context.id = CoefficientId::memory_context_bytes;
  context.value = 3000;
  coefficients.values = {context};
  PlanRequest request{cluster, workflow, coefficients};
  request.limits = neutral.limits;
  request.budget = neutral.budget;
  expect_sound(planned(request), request);
}

// The options of all tasks, and the weight sync.
TEST_P(EveryPlanner, PlansWithTheExecutionsAndWeightSyncThatItIsAskedFor) {
  if (GetParam().name == "ilp" || GetParam().name == "sha-ilp")
    GTEST_SKIP() << "refuses other ways of weight sync than the shortest";
  const Cluster cluster = tiny_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request = request_of(cluster, workflow);
  request.weight_sync.method = WeightSyncMethod::flat;
  request.choices.resize(workflow.tasks.size());
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    if (workflow.tasks[t].kind == TaskKind::training) request.choices[t].executions.front().zero_stage = 1;
  }
  const PlanResult result = planned(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_EQ(result.plan->weight_sync.method, WeightSyncMethod::flat);
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t)
    EXPECT_EQ(result.plan->tasks.at(workflow.tasks[t].name).execution, request.choices[t].executions.front());
  EXPECT_EQ(predict(cluster, workflow, *result.plan, kNeutral).iteration_s, result.prediction->iteration_s);
  EXPECT_NEAR(result.improvements.back().iteration_s, result.prediction->iteration_s,
              kRounding * result.prediction->iteration_s);
}

TEST_P(EveryPlanner, SameSeedSamePlan) {
  const Cluster cluster = tiny_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request = request_of(cluster, workflow);
  for (const std::uint64_t seed : {1U, 7U}) {
    request.seed = seed;
    const PlanResult first = planned(request), second = planned(request);
    EXPECT_EQ(*first.plan, *second.plan);
    EXPECT_EQ(first.candidates, second.candidates);
    ASSERT_EQ(first.improvements.size(), second.improvements.size());
    for (std::size_t i = 0; i < first.improvements.size(); ++i)
      EXPECT_EQ(first.improvements[i].evaluations, second.improvements[i].evaluations);
  }
}

TEST_P(EveryPlanner, KeepsToItsBudget) {
  if (!traits().has_budget) GTEST_SKIP() << "has none: it looks at all plans";
  const Cluster cluster = tiny_cluster();
  const Workflow workflow = small_workflow();
  PlanRequest request = request_of(cluster, workflow);
  for (const std::uint64_t evaluations : {1U, 40U, 400U}) {
    request.budget.evaluations = evaluations;
    const PlanResult result = planned(request);
    EXPECT_LE(traits().counts_nodes ? result.nodes : result.candidates, evaluations);
  }
}

TEST_P(EveryPlanner, ReturnsTheBestSoFarWhenCancelled) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  if (!traits().has_budget) GTEST_SKIP() << "tries more plans than memory holds options for";
  if (!traits().can_be_cancelled) GTEST_SKIP() << "only before its solver starts";
  if (GetParam().name == "sha-ilp") GTEST_SKIP() << "has no plan before its first program is solved";
  const Workflow workflow = ppo_8b();
  std::atomic<bool> is_cancelled = false;
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.seconds = 600;
  request.is_cancelled = &is_cancelled;
  // A busy machine needs its time until there is a plan to return.
  std::atomic<bool> has_plan = false;
  request.on_improvement = [&](const Improvement&) { has_plan = true; };
  const auto start = std::chrono::steady_clock::now();
  const std::jthread someone([&] {
    for (int tenths = 0; tenths < 5 || (tenths < 40 && !has_plan); ++tenths)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_cancelled = true;
  });
  const PlanResult result = planned(request);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  constexpr double kQuickly = 60;  // seconds, on a busy machine, of the ten minutes that it had
  EXPECT_LT(passed.count(), kQuickly);
  expect_sound(result, request);
}

TEST_P(EveryPlanner, SaysSoWhenItIsCancelledBeforeItStarts) {
  const Cluster cluster = tiny_cluster();
  const Workflow workflow = small_workflow();
  const std::atomic<bool> is_cancelled = true;
  PlanRequest request = request_of(cluster, workflow);
  request.is_cancelled = &is_cancelled;
  const PlanResult result = planned(request);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_FALSE(result.message.empty());
}

TEST_P(EveryPlanner, SaysSoWhenNothingFits) {
  const Cluster cluster = tiny_cluster(2000);
  const Workflow workflow = small_workflow();
  const PlanRequest request = request_of(cluster, workflow);
  const PlanResult result = planned(request);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_FALSE(result.prediction.has_value());
  EXPECT_EQ(result.feasible, 0U);
  EXPECT_NE(result.message.find("fits"), std::string::npos) << result.message;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPlanner, ::testing::ValuesIn(planners().begin(), planners().end()),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Planners, AreFoundByName) {
  std::set<std::string_view> names;
  for (const Planner& planner : planners()) {
    EXPECT_EQ(find_planner(planner.name), &planner);
    EXPECT_FALSE(planner.help.empty());
    EXPECT_EQ(planner.help.find('\n'), std::string_view::npos);
    names.insert(planner.name);
  }
  EXPECT_EQ(names.size(), planners().size());
  for (const char* name :
       {"sha-ea", "exact", "ilp", "exhaustive", "two-phase", "mcmc", "verl-colocated", "verl-split",
        "verl-auto", "openrlhf", "streamrl", "sha-ea-paper", "sha-random", "sha-ilp", "plain-ea", "random"}) {
    EXPECT_NE(find_planner(name), nullptr) << name;
  }
  EXPECT_EQ(find_planner("no such planner"), nullptr);
  EXPECT_EQ(find_planner(""), nullptr);
}

}  // namespace
}  // namespace sextant::test
