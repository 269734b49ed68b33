#include "planner/search/finish.h"

#include <gtest/gtest.h>

#include <limits>

#include "planner/search/engine_rules.h"
#include "planner/search/search_run.h"
#include "planner/verify/framework_rules.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// PPO of an 8B model on two nodes, all tasks on all devices. Its reference and its actor's training choose
// different degrees if nothing holds them together, as do the passes of the critic.
class SharedLayouts : public ::testing::Test {
 protected:
  Workflow workflow_ = ppo_8b();
  Cluster cluster_ = cluster_of({{"a100", 2}});
  Coefficients coefficients_;
  PlanRequest request_{cluster_, workflow_, coefficients_};
  std::size_t training_ = number_of(task_names::kActorTraining);
  std::size_t reference_ = number_of("reference_inference");

  [[nodiscard]] std::size_t number_of(const std::string& task) const {
    return static_cast<std::size_t>(&workflow_.task(task) - workflow_.tasks.data());
  }
  [[nodiscard]] PlanResult planned() const { return find_planner("verl-colocated")->plan(request_); }
  [[nodiscard]] bool is_shared(const PlanResult& result) const {
    return have_same_layout(result.plan->tasks.at(workflow_.tasks[training_].name),
                            result.plan->tasks.at(workflow_.tasks[reference_].name));
  }
};

// The critic's pass runs on the engine of its training; the reference only has the actor's layout.
TEST_F(SharedLayouts, PassesOfTrainedModelsUseTheirCopy) {
  const std::size_t pass = number_of(task_names::kCriticInference),
                    critic = number_of(task_names::kCriticTraining);
  const EngineRules rules{{{training_, reference_}, {training_, critic}, {critic, pass}}};
  EXPECT_EQ(one_copy_of(rules, workflow_), (TaskPairs{{pass, critic}}));
  EXPECT_TRUE(one_copy_of({}, workflow_).empty());
}

// Weights on devices are counted once where no choice separates the two tasks.
TEST_F(SharedLayouts, PassesFindWeightsOnDevicesWhereBothOffloadAndShardAlike) {
  const std::size_t pass = number_of(task_names::kCriticInference),
                    critic = number_of(task_names::kCriticTraining);
  const TaskPairs pairs{{pass, critic}}, none;
  EngineRules& rules = request_.engine_rules;
  EXPECT_EQ(one_copy_on_devices(request_), none);
  rules.same_layout = {{critic, pass}};
  EXPECT_EQ(one_copy_on_devices(request_), pairs);
  request_.choices.assign(workflow_.tasks.size(), one_choice({}));
  Execution& execution = request_.choices[pass].executions.front();
  execution.zero_stage = 3;
  EXPECT_EQ(one_copy_on_devices(request_), none);
  execution.zero_stage = 0;
  execution.offload_weights = true;
  EXPECT_EQ(one_copy_on_devices(request_), none);
  rules.common_options = {{{critic, pass}, {"offload_weights"}}};
  EXPECT_EQ(one_copy_on_devices(request_), pairs);
  execution.sharded_over = 2;
  EXPECT_EQ(one_copy_on_devices(request_), none);
  rules.common_options.front().options.emplace_back("sharded_over");
  EXPECT_EQ(one_copy_on_devices(request_), pairs);
  execution.zero_stage = 3;
  EXPECT_EQ(one_copy_on_devices(request_), none);
  rules.common_options.front().options.emplace_back("zero_stage_3");
  EXPECT_EQ(one_copy_on_devices(request_), pairs);
  request_.limits.pins[task_names::kCriticInference] = {};
  EXPECT_EQ(one_copy_on_devices(request_), none);
}

TEST(HostMemoryLimit, CountsWeightsOnceForAPassOnTheTrainersEngine) {
  const Cluster plain = cluster_of({{"a100", 1}});
  std::vector<Node> nodes = plain.nodes();
  nodes.front().host_memory_bytes = 100.0 * nodes.front().devices;
  const Cluster cluster("one", plain.device_types(), nodes, plain.levels());
  TaskValue training, pass;
  training.max_host_bytes = 80;
  pass.max_host_bytes = 30;
  const std::vector<const TaskValue*> values{&training, &pass};
  EXPECT_NEAR(HostMemoryLimit(cluster).overrun(values), 0.1, 1e-12);
  EXPECT_EQ(HostMemoryLimit(cluster, {{1, 0}}).overrun(values), 0);
  training.max_host_bytes = 0;  // its weights stay on the devices
  EXPECT_EQ(HostMemoryLimit(cluster, {{1, 0}}).overrun(values), 0);
  pass.max_host_bytes = 130;
  EXPECT_NEAR(HostMemoryLimit(cluster, {{1, 0}}).overrun(values), 0.3, 1e-12);
}

TEST_F(SharedLayouts, AreThoseOfThePlanThatARuleAsksFor) {
  const PlanResult free = planned();
  ASSERT_FALSE(is_shared(free));
  EXPECT_EQ(
      framework_violations(*free.plan, workflow_, {}, EngineRules{{{training_, reference_}}}).front().rule,
      std::string(rules::kSameLayout));
  request_.engine_rules.same_layout = {{training_, reference_}};
  const PlanResult shared = planned();
  ASSERT_EQ(shared.outcome, PlanOutcome::found);
  EXPECT_TRUE(is_shared(shared));
  EXPECT_TRUE(
      framework_violations(*shared.plan, workflow_, {}, EngineRules{{{training_, reference_}}}).empty());
  EXPECT_GE(shared.prediction->iteration_s, free.prediction->iteration_s * (1 - 1e-9));
  EXPECT_DOUBLE_EQ(shared.improvements.back().iteration_s, shared.prediction->iteration_s);
}

// Every layout that both tasks can have, with every micro-batch of either, is costed here.
TEST_F(SharedLayouts, AreTheBestOfAllWithTheOtherTasksAsTheyAre) {
  request_.engine_rules.same_layout = {{training_, reference_}};
  const PlanResult shared = planned();
  SearchTables tables(request_);
  Candidate candidate;
  for (int t = 0; t < tables.evaluator.task_count(); ++t) {
    const TaskPlan& task = shared.plan->tasks.at(workflow_.tasks[static_cast<std::size_t>(t)].name);
    const CanonicalLayout seat = *canonical_layout_in_search(t, task, request_);
    candidate.tasks.push_back({tables.evaluator.shapes(t).add(seat.shape), seat.devices});
  }
  std::vector<std::uint16_t> all(16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const ShapeLimits limits = shape_limits_of(request_);
  double best_s = std::numeric_limits<double>::infinity();
  for (const Shape& trained : shapes_of(workflow_.tasks[training_], workflow_, 16, limits)) {
    for (const Shape& passed : shapes_of(workflow_.tasks[reference_], workflow_, 16, limits)) {
      if (trained.tensor_parallel != passed.tensor_parallel || trained.layers != passed.layers) continue;
      for (const DeviceOrder order : {DeviceOrder::by_replica, DeviceOrder::by_stage}) {
        const auto place = [&](std::size_t task, const Shape& shape) {
          const int position = tables.evaluator.shapes(static_cast<int>(task)).add(shape);
          candidate.tasks[task] = placed(shape, position, order, all);
        };
        place(training_, trained);
        place(reference_, passed);
        const Score score = tables.evaluator.evaluate(candidate);
        if (score.fits()) best_s = std::min(best_s, score.time_s);
      }
    }
  }
  EXPECT_NEAR(shared.prediction->iteration_s, best_s, 1e-9 * best_s);
}

TEST_F(SharedLayouts, LeavesPinnedTasksWhereTheyAre) {
  PlanResult result = planned();
  const Plan before = *result.plan;
  request_.engine_rules.same_layout = {{training_, reference_}};
  const std::string& pinned = workflow_.tasks[reference_].name;
  request_.limits.pins[pinned].layout = before.tasks.at(pinned);
  obey_engine_rules(request_, result);
  EXPECT_EQ(*result.plan, before);
}

TEST_F(SharedLayouts, TakesAProofThatIsOfAnotherPlan) {
  PlanResult result = planned();
  result.proof = Proof::optimal;
  result.lower_bound = result.prediction->iteration_s;
  request_.engine_rules.same_layout = {{training_, reference_}};
  obey_engine_rules(request_, result);
  ASSERT_TRUE(result.plan);
  EXPECT_EQ(result.proof, Proof::gap);
  EXPECT_NEAR(result.gap_fraction, result.prediction->iteration_s / result.lower_bound - 1, 1e-12);
}

// Training must shard its weights (ZeRO 3), and the reference need not: it is faster with whole ones, unless one
// setting decides for both.
TEST_F(SharedLayouts, GiveTasksOneValueOfACommonOption) {
  Execution whole, sharded;
  sharded.zero_stage = 3;
  request_.choices.assign(workflow_.tasks.size(), TaskChoices{});
  request_.choices[training_].executions = {sharded};
  request_.choices[reference_].executions = {whole, sharded};
  const auto value = [&](const PlanResult& result, std::size_t task) {
    return option_of(result.plan->tasks.at(workflow_.tasks[task].name), "zero_stage_3");
  };
  const PlanResult free = planned();
  ASSERT_EQ(value(free, reference_), "no");
  EngineRules rules;
  rules.common_options = {{{training_, reference_}, {"zero_stage_3"}}};
  EXPECT_EQ(framework_violations(*free.plan, workflow_, {}, rules).front().rule,
            std::string(rules::kCommonOption));
  EXPECT_EQ(broken_engine_rules(*free.plan, workflow_, rules, request_.choices).size(), 1U);
  request_.engine_rules = rules;
  const PlanResult common = planned();
  ASSERT_EQ(common.outcome, PlanOutcome::found);
  EXPECT_EQ(value(common, reference_), "yes");
  EXPECT_TRUE(framework_violations(*common.plan, workflow_, {}, rules).empty());
  // About as fast as where the reference has no other choice from the start: the rest of the plan stays as it was.
  request_.choices[reference_].executions = {sharded};
  EXPECT_NEAR(common.prediction->iteration_s, planned().prediction->iteration_s,
              1e-3 * common.prediction->iteration_s);
}

TEST_F(SharedLayouts, GoIfNoValueOfACommonOptionIsForAll) {
  Execution whole, sharded;
  sharded.zero_stage = 3;
  request_.choices.assign(workflow_.tasks.size(), TaskChoices{});
  request_.choices[training_].executions = {sharded};
  request_.engine_rules.common_options = {{{training_, reference_}, {"zero_stage_3"}}};
  EXPECT_EQ(planned().outcome, PlanOutcome::infeasible);
}

// All tasks run on the same devices here, so the engine of the first rule must leave them.
TEST_F(SharedLayouts, OffloadAnEngineThatSharesItsDevices) {
  const std::size_t generation = number_of("actor_generation");
  Cluster with_hosts = cluster_of({{"a100", 2}});
  DeviceType type = with_hosts.device_types().at("a100");
  type.host_bytes_per_s = assumed(20e9);
  cluster_ = Cluster("hosts", {{"a100", type}}, with_hosts.nodes(), with_hosts.levels());
  Execution stays, leaves;
  leaves.offload_weights = true;
  request_.choices.assign(workflow_.tasks.size(), TaskChoices{});
  request_.choices[generation].executions = {stays, leaves};
  const auto offloads = [&](const PlanResult& result) {
    return result.plan->tasks.at(workflow_.tasks[generation].name).execution.offload_weights;
  };
  ASSERT_FALSE(offloads(planned()));
  EngineRules& rules = request_.engine_rules;
  rules.generation = generation;
  rules.training = training_;
  rules.offload_when_shared = {{generation, OffloadRule::exactly}};
  EXPECT_TRUE(offloads(planned()));
  rules.offload_when_shared = {{generation, OffloadRule::at_least}};
  EXPECT_TRUE(offloads(planned()));
  rules.offload_when_shared = {{generation, OffloadRule::at_most}};
  EXPECT_FALSE(offloads(planned()));
  // The rule is void if no execution of the task does as it asks.
  rules.offload_when_shared = {{generation, OffloadRule::exactly}};
  request_.choices[generation].executions = {stays};
  EXPECT_FALSE(offloads(planned()));
}

// Megatron's ranks: with two replicas of two stages of four devices, the first stages have devices 0 to 7.
TEST(RankOrders, AreThoseOfTheFramework) {
  const Workflow workflow = ppo_14b();
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Coefficients coefficients;
  for (const RankOrder order : {RankOrder::replicas_outermost, RankOrder::stages_outermost}) {
    PlanRequest request{cluster, workflow, coefficients};
    request.choices.assign(workflow.tasks.size(), TaskChoices{});
    for (TaskChoices& choices : request.choices) {
      choices.max_tensor_parallel = 4;
      choices.rank_order = order;
    }
    int pipelines = 0;
    for (const char* planner : {"verl-colocated", "sha-ea", "plain-ea"}) {
      request.budget.evaluations = 2000;
      const PlanResult result = find_planner(planner)->plan(request);
      ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
      EXPECT_TRUE(framework_violations(*result.plan, workflow, request.choices).empty());
      for (const auto& [name, task] : result.plan->tasks) {
        const Replica& first = task.replicas.front();
        if (task.replicas.size() == 1 || first.pipeline_parallel() == 1) continue;
        ++pipelines;
        const DeviceId follows = order == RankOrder::stages_outermost
                                     ? task.replicas[1].stages.front().devices.front()
                                     : first.stages[1].devices.front();
        EXPECT_GT(follows, first.stages.front().devices.back()) << name;
        EXPECT_LE(follows.value, first.stages.front().devices.front().value + 8) << name;
      }
    }
    EXPECT_GT(pipelines, 0);
  }
}

// Generation on a node of its own beside training on another, which takes longer: a slow engine costs nothing,
// and a fast one is taken all the same.
TEST(UseSlack, MakesATaskFasterThatRunsBesideASlowerOne) {
  const Workflow workflow = ppo_8b(Mode::one_step_off);
  const Cluster cluster = cluster_of({{"a100", 4}});
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  PlanResult result = find_planner("streamrl")->plan(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found);
  SearchTables tables(request);
  Candidate candidate = *candidate_of(*result.plan, request, tables.evaluator);
  const double loss = tables.evaluator.evaluate(candidate).loss;
  const int generation = static_cast<int>(&workflow.actor_generation() - workflow.tasks.data());
  const auto at = static_cast<std::size_t>(generation);
  std::vector<std::uint16_t> devices = candidate.tasks[at].devices;
  std::sort(devices.begin(), devices.end());
  const std::vector<Option>& options = tables.options.of(generation, devices);
  // The slowest engine that leaves the plan as fast as it is.
  (void)tables.evaluator.evaluate(candidate);
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    const Shape& shape = tables.evaluator.shapes(generation).at(option->shape);
    Candidate slow = candidate;
    slow.tasks[at] = placed(shape, option->shape, option->order, devices);
    const Score score = tables.evaluator.evaluate(slow);
    if (!score.fits() || score.loss > loss * (1 + 1e-9)) continue;
    candidate = slow;
    break;
  }
  result.plan = tables.evaluator.plan_of(candidate, "slow");
  result.prediction = predict(cluster, workflow, *result.plan, coefficients);
  const double slow_s = tables.evaluator.value_of(generation, candidate.tasks[at]).time_s;
  use_slack(request, result);
  EXPECT_LE(result.prediction->iteration_s, loss * (1 + kMaxLossOfSlack + 1e-9));
  const Candidate after = *candidate_of(*result.plan, request, tables.evaluator);
  const double fast_s = tables.evaluator.value_of(generation, after.tasks[at]).time_s;
  EXPECT_LT(fast_s, slow_s);
  EXPECT_EQ(result.plan->tasks.at(workflow.tasks[at].name).devices().size(), devices.size());
}

TEST(ConnectedTasks, JoinsPairsThatShareATask) {
  using Sets = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(connected_tasks({{1, 3}, {5, 6}, {3, 4}}), (Sets{{5, 6}, {1, 3, 4}}));
  EXPECT_TRUE(connected_tasks({}).empty());
}

}  // namespace
}  // namespace sextant::test
