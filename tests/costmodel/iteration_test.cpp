// HetRL B.3 and B.4: the aggregations of tasks and the closed forms of iterations.
#include "costmodel/iteration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

TEST(TaskCost, GenerationByHand) {
  TaskPlan waves = uneven_pipeline();
  waves.decode_batch_sequences = 4;
  Case<> small(small_cluster(), small_workflow(), same_everywhere(waves));
  const TaskCost<double> cost = task_cost(small.problem, small.work("actor_generation"));
  // Stage 0: 132.48 + 46.72 + 96.8 + 96 = 372. Stage 1: 331.2 + 0 + 0 + 240.
  EXPECT_DOUBLE_EQ(cost.time_s, 571.2);
  EXPECT_EQ(cost.critical_stage, 1);
  EXPECT_DOUBLE_EQ(cost.term(Term::decode), 240);
}

TEST(TaskCost, NamesTheReplicaThatTheOthersWaitFor) {
  TaskPlan plan = on_device(0);
  plan.replicas = {{0.5, {stage(3, {0})}}, {0.5, {stage(3, {2})}}};  // the second on a slow device
  Case<> small(small_cluster(), small_workflow(), same_everywhere(plan));
  for (const Task& task : small.workflow.tasks)
    EXPECT_EQ(task_cost(small.problem, small.work(task.name)).critical_replica, 1) << task.name;
}

TEST(TaskCost, GenerationTakesTheMaximumOverStagesOfTheWholeSum) {
  // Stage 0 alone would win on compute and tensor parallelism, stage 1 on decoding: the appendix's early
  // bracket would add parts of different stages.
  TaskPlan plan;
  plan.replicas = {{1.0, {stage(2, {2}), stage(1, {0})}}};
  plan.micro_batch_sequences = 3;
  Case<> small(small_cluster(), small_workflow(), same_everywhere(plan));
  const TaskCost<double> cost = task_cost(small.problem, small.work("actor_generation"));
  // Stage 0 (slow, two layers): 12 * 2 * 1104 / 40 + pp 4 * 24.2 + 5 * 2 * 320 / 20.
  EXPECT_DOUBLE_EQ(cost.time_s, 662.4 + 96.8 + 160);
}

TEST(TaskCost, InferenceByHand) {
  Case<> small(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()));
  // Stage 0: 430.08 + 46.72 + 96.8 = 573.6; stage 1: 1075.2.
  EXPECT_DOUBLE_EQ(task_cost(small.problem, small.work("reference_inference")).time_s, 1075.2);
}

TEST(TaskCost, TrainingByHand) {
  Case<> small(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()));
  const TaskCost<double> cost = task_cost(small.problem, small.work("actor_training"));
  // Stage 1: 3225.6; bubble 3225.6 / 4; no data parallelism.
  EXPECT_DOUBLE_EQ(cost.time_s, 3225.6 + 806.4);
  EXPECT_DOUBLE_EQ(cost.term(Term::bubble), 806.4);
}

TEST(TaskCost, TrainingAddsDataParallelAfterTheSlowestReplica) {
  Case<> small(small_cluster(), small_workflow(), same_everywhere(two_replicas()));
  const TaskCost<double> cost = task_cost(small.problem, small.work("actor_training"));
  // 6 sequences a replica in 2 micro-batches. Stage 0: 3 * 6 * 2 * 3584 / 100 = 1290.24 + pp 2 * 2 * 24.2;
  // stage 1: 3 * 6 * 3584 / 40 = 1612.8, bubble half of it, gradients 8.4.
  EXPECT_DOUBLE_EQ(cost.time_s, 1612.8 + 806.4 + 8.4);
}

TEST(TaskCost, TensorParallelismHidesBesideComputation) {
  // Two devices share three layers; 24 all-reduces of 192 bytes over 1 s + n / 100 take 70.08 s.
  constexpr double kReduced = 24 * 2.92, kFlop = 12 * 3 * 3584 / 2.0;
  const auto exposed_s = [](double flop_per_s, double overlap) {
    TaskPlan pair;
    pair.replicas = {{1.0, {stage(3, {0, 1})}}};
    pair.micro_batch_sequences = 3;
    Case<> small(Cluster("pair", {{"fast", device_type(flop_per_s, 50)}}, {node("a", "fast", 2)},
                         {{LinkLevel::within_node, link_rate(1, 100)}}),
                 small_workflow(), same_everywhere(pair));
    small.set(CoefficientId::tensor_parallel_overlap, overlap);
    const TaskCost<double> cost = task_cost(small.problem, small.work("reference_inference"));
    EXPECT_DOUBLE_EQ(cost.time_s, cost.term(Term::compute) + cost.term(Term::tensor_parallel));
    return cost.term(Term::tensor_parallel);
  };
  EXPECT_DOUBLE_EQ(exposed_s(1, 0), kReduced);
  // Computation that takes 900 times as long hides all of the share that overlaps, one that takes as long
  // 2^(-1/4) of it (smooth.h).
  constexpr double kNearTheLimit = 1e-9;
  EXPECT_NEAR(exposed_s(1, 0.75), 0.25 * kReduced, kNearTheLimit);
  EXPECT_NEAR(exposed_s(kFlop / kReduced, 0.75), kReduced * (1 - 0.75 * std::pow(2, -0.25)), kNearTheLimit);
}

TEST(TaskCost, TermsSumToTheTime) {
  Case<> small(small_cluster(), small_workflow(Mode::synchronous, 12), same_everywhere(two_replicas()));
  for (const CoefficientSpec& spec : coefficient_table()) small.set(spec.id, spec.prior);
  for (const Task& task : small.workflow.tasks) {
    const TaskCost<double> cost = task_cost(small.problem, small.work(task.name));
    double sum = 0;
    for (const double term : cost.terms_s) sum += term;
    EXPECT_NEAR(cost.time_s, sum, 1e-12 * cost.time_s) << task.name;
  }
}

TEST(Overlap, PhiBetweenSequentialAndParallel) {
  const std::set<DeviceId> a{DeviceId{0}}, b{DeviceId{1}}, c{DeviceId{2}};
  const std::vector<TimedTask<double>> apart{{3, &a, {}}, {5, &b, {}}, {4, &c, {}}};
  EXPECT_DOUBLE_EQ(overlapped_s(apart, 0.0), 12);
  EXPECT_DOUBLE_EQ(overlapped_s(apart, 1.0), 5);
  EXPECT_DOUBLE_EQ(overlapped_s(apart, 0.25), 5 + 0.75 * 7);
  EXPECT_DOUBLE_EQ(overlapped_s(std::vector<TimedTask<double>>{}, 0.5), 0);
}

TEST(Overlap, TasksThatShareSomeDevicesWaitForThem) {
  // Two side by side, then one on the devices of both: 8 + 5, not 6 + 8 + 5.
  const std::set<DeviceId> a{DeviceId{0}}, b{DeviceId{1}}, both{DeviceId{0}, DeviceId{1}};
  const std::vector<TimedTask<double>> tasks{{6, &a, {}}, {8, &b, {}}, {5, &both, {}}};
  EXPECT_DOUBLE_EQ(overlapped_s(tasks, 1.0), 13);
  EXPECT_DOUBLE_EQ(overlapped_s(tasks, 0.0), 19);
}

struct ClosedForm {
  std::set<DeviceId> zero{DeviceId{0}}, one{DeviceId{1}}, two{DeviceId{2}};
  [[nodiscard]] double of(Mode mode, const std::vector<PlacedTask<double>>& tasks, double eta) const {
    Workflow workflow = small_workflow(mode);
    return closed_form_work<double>(workflow, tasks, eta).total_s;
  }
  // Asynchronous, generation and training on devices of their own.
  [[nodiscard]] double streamed(double generation, double training, double staleness, int parts) const {
    Workflow workflow = small_workflow(Mode::asynchronous);
    workflow.staleness = staleness;
    workflow.streamed_parts = parts;
    const std::vector<PlacedTask<double>> tasks{{TaskKind::generation, generation, &zero},
                                                {TaskKind::training, training, &one}};
    return closed_form_work<double>(workflow, tasks, 1.0).total_s;
  }
};

TEST(ClosedForms, SynchronousPpo) {
  const ClosedForm form;
  const std::vector<PlacedTask<double>> apart{
      {TaskKind::generation, 10, &form.zero}, {TaskKind::inference, 2, &form.zero},
      {TaskKind::inference, 3, &form.one},    {TaskKind::inference, 4, &form.two},
      {TaskKind::training, 20, &form.zero},   {TaskKind::training, 15, &form.one}};
  EXPECT_DOUBLE_EQ(form.of(Mode::synchronous, apart, 1.0), 10 + 4 + 20);
  EXPECT_DOUBLE_EQ(form.of(Mode::synchronous, apart, 0.5), 10 + (4 + 0.5 * 5) + (20 + 0.5 * 15));
  EXPECT_DOUBLE_EQ(form.of(Mode::synchronous, apart, 0.0), 10 + 9 + 35);
}

TEST(ClosedForms, TasksOnOneDeviceRunOneAfterAnother) {
  const ClosedForm form;
  const std::vector<PlacedTask<double>> shared{{TaskKind::generation, 10, &form.zero},
                                               {TaskKind::inference, 2, &form.zero},
                                               {TaskKind::inference, 3, &form.zero},
                                               {TaskKind::inference, 4, &form.one},
                                               {TaskKind::training, 20, &form.zero}};
  EXPECT_DOUBLE_EQ(form.of(Mode::synchronous, shared, 1.0), 10 + 5 + 20);
}

TEST(ClosedForms, AsynchronousOverlapsGenerationOnDevicesOfItsOwn) {
  const ClosedForm form;
  std::vector<PlacedTask<double>> tasks{{TaskKind::generation, 30, &form.zero},
                                        {TaskKind::inference, 4, &form.one},
                                        {TaskKind::training, 20, &form.one}};
  EXPECT_DOUBLE_EQ(form.of(Mode::asynchronous, tasks, 1.0), 30);
  EXPECT_DOUBLE_EQ(form.of(Mode::one_step_off, tasks, 1.0), 30);
  EXPECT_DOUBLE_EQ(form.of(Mode::synchronous, tasks, 1.0), 54);
  tasks[0].time_s = 1;
  EXPECT_DOUBLE_EQ(form.of(Mode::asynchronous, tasks, 1.0), 24);
  tasks[1].devices = &form.zero;  // generation shares a device: nothing overlaps
  EXPECT_DOUBLE_EQ(form.of(Mode::asynchronous, tasks, 1.0), 25);
}

TEST(ClosedForms, WithoutRunningAheadOnlyPartsOverlap) {
  const ClosedForm form;
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0, 1), 54);      // training waits for the whole batch
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0, 4), 30 + 6);  // a quarter of training is left after the last part
  EXPECT_DOUBLE_EQ(form.streamed(12, 24, 0, 4), 3 + 24);  // training waits for its first part
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0, 1000), 30.024);
}

TEST(ClosedForms, WhatWasMadeAheadIsNotWaitedFor) {
  const ClosedForm form;
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0.1, 4), 0.9 * 30 + 6);
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0.5, 4), 30);  // generation never rests
  EXPECT_DOUBLE_EQ(form.streamed(12, 24, 0.1, 4), 0.15 * 12 + 24);
  EXPECT_DOUBLE_EQ(form.streamed(12, 24, 0.25, 4), 24);
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 0.5, 1), 15 + 24);
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 1, 1), 30);
  EXPECT_DOUBLE_EQ(form.streamed(30, 24, 8, 1), 30);
}

TEST(ClosedForms, AGraphStreamsAsTheClosedFormDoes) {
  const ClosedForm form;
  Workflow workflow = small_workflow(Mode::asynchronous);
  workflow.staleness = 0.1;
  workflow.streamed_parts = 4;
  const std::vector<PlacedTask<double>> tasks{{TaskKind::generation, 30, &form.zero, {}},
                                              {TaskKind::training, 24, &form.one, {0}}};
  EXPECT_DOUBLE_EQ(graph_work<double>(workflow, tasks, 1.0).total_s, 0.9 * 30 + 6);
}

TEST(Iteration, SynchronousGrpoByHand) {
  Case<> small(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()));
  const IterationCost<double> cost = iteration_cost(small.problem);
  // One wave: stage 1 decodes 5 * 2 * 160 / 20 = 80. 331.2 + 80, 1075.2, 4032, resharding 69.
  EXPECT_DOUBLE_EQ(cost.iteration_s, 411.2 + 1075.2 + 4032 + 69);
}

TEST(Iteration, AsynchronousGrpoByHand) {
  const Plan apart = plan_with(on_device(3), uneven_pipeline(), uneven_pipeline());
  Case<> small(small_cluster(), small_workflow(Mode::asynchronous), apart);
  const IterationCost<double> cost = iteration_cost(small.problem);
  // Generation on one slow device: 12 * 3 * 1104 / 40 + 5 * 2 * 480 / 20 = 1233.6, hidden behind 1075.2 + 4032.
  EXPECT_DOUBLE_EQ(cost.tasks[0].time_s, 1233.6);
  EXPECT_DOUBLE_EQ(cost.iteration_s, 1075.2 + 4032 + 69);
}

TEST(Iteration, TasksRunBesideEachOtherAsFarAsTheCoefficientSays) {
  Workflow workflow = small_workflow();
  workflow.models["reward"] = small_model();
  workflow.tasks = grpo_tasks(true);
  // Reference on one fast device, rewards on the other: 12 * 3 * 3584 / 100 = 1290.24 each.
  Plan plan = plan_with(on_device(0), on_device(0), on_device(0));
  plan.tasks["reward_inference"] = on_device(1);
  Case<> small(small_cluster(), workflow, plan);
  const IterationCost<double> cost = iteration_cost(small.problem);  // 1, the appendix: fully
  ASSERT_DOUBLE_EQ(cost.tasks[1].time_s, 1290.24);
  ASSERT_DOUBLE_EQ(cost.tasks[2].time_s, 1290.24);
  // Generation 12 * 3 * 1104 / 100 + 5 * 960 / 50 = 493.44, training three times inference; one device has
  // nothing to reshard.
  EXPECT_DOUBLE_EQ(cost.iteration_s, 493.44 + 1290.24 + 3 * 1290.24);
  small.set(CoefficientId::task_overlap, 0.25);
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 493.44 + 1.75 * 1290.24 + 3 * 1290.24);
  small.set(CoefficientId::task_overlap, 0);
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 493.44 + 2 * 1290.24 + 3 * 1290.24);
}

TEST(Graphs, ACustomGraphRunsAsItsParentsAndDevicesAllow) {
  const ClosedForm form;
  // Both inference tasks wait for generation; the second training only for the first inference.
  const std::vector<PlacedTask<double>> tasks{{TaskKind::generation, 10, &form.zero},
                                              {TaskKind::inference, 2, &form.zero, {0}},
                                              {TaskKind::inference, 9, &form.one, {0}},
                                              {TaskKind::training, 20, &form.one, {1, 2}},
                                              {TaskKind::training, 5, &form.zero, {1}}};
  const std::span<const PlacedTask<double>> all(tasks);
  EXPECT_DOUBLE_EQ(graph_work(small_workflow(Mode::synchronous), all, 1.0).total_s, 10 + 9 + 20);
  EXPECT_DOUBLE_EQ(graph_work(small_workflow(Mode::synchronous), all, 0.0).total_s, 46);
}

TEST(Graphs, GenerationOfAnotherBatchRunsBeside) {
  const ClosedForm form;
  std::vector<PlacedTask<double>> tasks{{TaskKind::generation, 10, &form.zero},
                                        {TaskKind::inference, 2, &form.one, {0}},
                                        {TaskKind::training, 3, &form.one, {1}}};
  EXPECT_DOUBLE_EQ(graph_work<double>(small_workflow(Mode::asynchronous), tasks, 1.0).total_s, 10);
  EXPECT_DOUBLE_EQ(graph_work<double>(small_workflow(Mode::synchronous), tasks, 1.0).total_s, 15);
  tasks[0].time_s = 4;
  EXPECT_DOUBLE_EQ(graph_work<double>(small_workflow(Mode::asynchronous), tasks, 1.0).total_s, 5);
}

TEST(Iteration, TheControllerHandlesEverySequenceOnce) {
  Case<> small(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()));
  small.set(CoefficientId::sequence_overhead_s, 0.25);
  // 12 sequences: once in the iteration and once in each of the three calls.
  EXPECT_DOUBLE_EQ(iteration_overhead_s(small.workflow, small.problem.coefficients), 12 * 0.25);
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 411.2 + 1075.2 + 4032 + 69 + 4 * 12 * 0.25);
}

TEST(Iteration, ATaskAloneIsCalledByNobody) {
  Workflow step = small_workflow();
  step.algorithm = Algorithm::custom;
  step.tasks = {step.task("actor_training")};
  step.tasks.front().after.clear();
  Plan plan = same_everywhere(uneven_pipeline());
  std::erase_if(plan.tasks, [](const auto& task) { return task.first != "actor_training"; });
  Case<> small(small_cluster(), step, plan);
  for (const CoefficientId id : {CoefficientId::call_overhead_s, CoefficientId::sequence_overhead_s,
                                 CoefficientId::iteration_overhead_s}) {
    small.set(id, 1000);
  }
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 4032);
}

TEST(Iteration, ALoopPaysNoController) {
  Workflow loop = small_workflow();
  loop.orchestration = Orchestration::loop;
  Case<> small(small_cluster(), loop, same_everywhere(uneven_pipeline()));
  for (const CoefficientId id :
       {CoefficientId::call_overhead_s, CoefficientId::sequence_overhead_s, CoefficientId::iteration_overhead_s,
        CoefficientId::weight_sync_overhead_s, CoefficientId::weight_sync_tensor_overhead_s,
        CoefficientId::engine_wake_overhead_s}) {
    small.set(id, 1000);
  }
  small.set(CoefficientId::task_overhead_s, 0.5);  // its own
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 411.2 + 1075.2 + 4032 + 69 + 3 * 0.5);
}

// The link between both nodes once carried a critic's weights for nothing, at any rate.
TEST(Iteration, ACriticThatIsEvaluatedElsewherePaysForItsWeights) {
  Workflow workflow = small_workflow();
  workflow.algorithm = Algorithm::ppo;
  workflow.tasks = ppo_tasks({});
  for (const char* role : {"critic", "reward"}) {
    workflow.models[role] = small_model();
    workflow.models[role].value_head = true;
  }
  TaskPlan here;
  here.replicas = {{1.0, {stage(3, {0})}}};
  here.micro_batch_sequences = 3;
  TaskPlan there = here, halves = here;
  there.replicas.front().stages = {stage(3, {2})};
  halves.replicas.front().stages = {stage(3, {2, 3})};
  const auto sync_s = [&](const TaskPlan& evaluated) {
    Plan plan;
    for (const Task& task : workflow.tasks) plan.tasks[task.name] = here;
    plan.tasks[task_names::kCriticInference] = evaluated;
    const Case<> small(small_cluster(), workflow, plan);
    const IterationCost<double> cost = iteration_cost(small.problem);
    EXPECT_GE(cost.iteration_s, cost.weight_sync_s);
    return cost.weight_sync_s;
  };
  const double bytes = 2 * workflow.models["critic"].parameters();
  EXPECT_EQ(sync_s(here), 0);
  EXPECT_DOUBLE_EQ(sync_s(there), 5 + bytes / 10);
  // Each of two devices fetches half of the layers' weights; the trainer sends both.
  EXPECT_DOUBLE_EQ(sync_s(halves), 5 + bytes / 10);
  const std::vector<WeightUse> uses = other_weight_uses(workflow);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(workflow.tasks[uses[0].used].name, task_names::kCriticInference);
  // old_log_prob uses what the actor's training makes; generation has a way of its own.
  workflow.tasks = grpo_tasks(false, {true, true});
  workflow.algorithm = Algorithm::grpo;
  EXPECT_EQ(other_weight_uses(workflow).size(), 1U);
}

// The machines of the small cluster in two zones: a transfer between them takes 5 s and a byte 0.1 s.
Cluster two_zones() {
  std::vector<Node> nodes = small_cluster().nodes();
  nodes.back().zone = "far away";
  auto levels = small_cluster().levels();
  levels[LinkLevel::within_region] = link_rate(5, 10);
  return Cluster("two zones", small_cluster().device_types(), nodes, levels);
}

// 12 sequences of 8 tokens: 192 bytes from generation, 384 from the reference model.
TEST(Iteration, DataThatTasksHandOnIsMovedBetweenTheirDevices) {
  Workflow workflow = small_workflow();
  workflow.data_bytes_per_token = 2;
  const auto data_s = [&](const std::vector<int>& generation, const std::vector<int>& reference) {
    const auto on = [](const std::vector<int>& devices) {
      TaskPlan plan;
      plan.replicas = {{1.0, {stage(3, devices)}}};
      plan.micro_batch_sequences = 3;
      return plan;
    };
    const Case<> small(two_zones(), workflow, plan_with(on(generation), on(reference), on({0})));
    const IterationCost<double> cost = iteration_cost(small.problem);
    const Prediction prediction = predict(two_zones(), workflow, small.plan, {});
    EXPECT_DOUBLE_EQ(prediction.data_s, cost.data_s);
    workflow.data_bytes_per_token = 0;
    const Case<> free(two_zones(), workflow, small.plan);
    EXPECT_DOUBLE_EQ(cost.iteration_s, iteration_cost(free.problem).iteration_s + cost.data_s);
    workflow.data_bytes_per_token = 2;
    return cost.data_s;
  };
  EXPECT_EQ(data_s({0}, {0}), 0);
  // To the reference model and back; training has what generation made.
  EXPECT_DOUBLE_EQ(data_s({0}, {2}), 5 + 19.2 + 5 + 38.4);
  // Two devices make all of it at twice the rate where two receive it.
  EXPECT_DOUBLE_EQ(data_s({0, 1}, {2, 3}), 5 + 9.6 + 0 + 5 + 38.4);
  // Each device makes half. Training and the reference model on device 0 get what device 2 made.
  EXPECT_DOUBLE_EQ(data_s({0, 2}, {0}), 2 * (5 + 9.6));
}

TEST(DataEdges, EveryTaskGetsWhatItsAncestorsMade) {
  Workflow workflow = small_workflow();
  workflow.data_bytes_per_token = 12;
  workflow.tasks = ppo_tasks();
  std::map<std::string, std::map<std::string, double>> bytes;
  for (const DataEdge& edge : data_edges(workflow, two_zones()))
    bytes[workflow.tasks[edge.needed].name][workflow.tasks[edge.made].name] = edge.bytes;
  constexpr double kTokens = 12 * 8;
  const std::map<std::string, double> of_generation = {{"actor_generation", 12 * kTokens}};
  std::map<std::string, double> of_all = of_generation;
  for (const char* task : {"reward_inference", "reference_inference", "critic_inference"}) {
    EXPECT_EQ(bytes[task], of_generation);
    of_all[task] = 4 * kTokens;
  }
  EXPECT_EQ(bytes["actor_training"], of_all);
  EXPECT_EQ(bytes["critic_training"], of_all);
  EXPECT_EQ(bytes.size(), 5U);
  EXPECT_TRUE(data_edges(workflow, small_cluster()).empty()) << "one zone";
  workflow.data_bytes_per_token = 0;
  EXPECT_TRUE(data_edges(workflow, two_zones()).empty());
}

TEST(Iteration, RuleRewardAndOverheadAreAdded) {
  Workflow workflow = small_workflow();
  workflow.rule_reward_s_per_sequence = 0.5;
  Case<> small(small_cluster(), workflow, same_everywhere(uneven_pipeline()));
  small.set(CoefficientId::iteration_overhead_s, 3);
  EXPECT_DOUBLE_EQ(iteration_cost(small.problem).iteration_s, 411.2 + 1075.2 + 4032 + 69 + 12 * 0.5 + 3);
}

// Generation of 411.2 s hides rewards that take less for all 12 responses, but for that of the last.
TEST(Iteration, RewardsBesideGenerationAreHiddenByIt) {
  Workflow workflow = small_workflow();
  const double free_s = predict(small_cluster(), workflow, same_everywhere(uneven_pipeline()), {}).iteration_s;
  workflow.rollout.has_rewards_beside = true;
  const auto rewarded = [&](double each_s) {
    workflow.rule_reward_s_per_sequence = each_s;
    return predict(small_cluster(), workflow, same_everywhere(uneven_pipeline()), {});
  };
  EXPECT_DOUBLE_EQ(rewarded(10).iteration_s, free_s + 10);
  const Prediction slow = rewarded(1000);
  EXPECT_DOUBLE_EQ(slow.iteration_s, free_s - 411.2 + 12000);
  EXPECT_DOUBLE_EQ(slow.rule_reward_s, 0);
  EXPECT_THAT(slow.bottleneck,
              ::testing::HasSubstr("; the rule scores 1 at a time and takes 12000 s for all responses"));
}

TEST(Predict, TrainingWaitsForThePartsThatMayNotBeMadeAhead) {
  Workflow workflow = small_workflow(Mode::asynchronous);
  const Plan plan = plan_with(on_device(2), on_device(0), on_device(0));
  const Prediction ahead = predict(small_cluster(), workflow, plan, {});
  EXPECT_DOUBLE_EQ(ahead.tasks.at("reference_inference").start_s, 0);
  workflow.staleness = 0;
  const Prediction waiting = predict(small_cluster(), workflow, plan, {});
  const double generation_s = waiting.tasks.at("actor_generation").end_s;
  EXPECT_GT(generation_s, 0);
  EXPECT_DOUBLE_EQ(waiting.tasks.at("reference_inference").start_s, generation_s);
  EXPECT_NEAR(waiting.iteration_s, ahead.iteration_s + generation_s, 1e-9 * waiting.iteration_s);
}

TEST(Predict, AWaitIsWhatTheIterationIsLongerBy) {
  Workflow workflow = small_workflow(Mode::asynchronous);
  const Plan plan = plan_with(on_device(2), on_device(0), on_device(0));
  const auto exposed_s = [&](const char* task) {
    return predict(small_cluster(), workflow, plan, {}).tasks.at(task).exposed_s;
  };
  const Prediction beside = predict(small_cluster(), workflow, plan, {});
  const double generation_s = beside.tasks.at("actor_generation").time_s,
               inference_s = beside.tasks.at("reference_inference").time_s,
               training_s = beside.tasks.at("actor_training").time_s;
  ASSERT_LT(generation_s, inference_s + training_s);
  EXPECT_EQ(exposed_s("actor_generation"), 0);  // beside longer work
  // Without training, the longer side is that of generation or of inference.
  EXPECT_DOUBLE_EQ(exposed_s("actor_training"), inference_s + training_s - std::max(generation_s, inference_s));
  workflow.staleness = 0;  // nothing is made ahead: training waits for all of it
  EXPECT_DOUBLE_EQ(exposed_s("actor_generation"), generation_s);
  workflow.mode = Mode::synchronous;
  EXPECT_DOUBLE_EQ(exposed_s("actor_generation"), generation_s);
  EXPECT_DOUBLE_EQ(exposed_s("actor_training"), training_s);
}

TEST(Predict, TasksWaitForDevicesThatOthersHold) {
  Workflow workflow = small_workflow();
  workflow.models["critic"] = small_model();
  workflow.tasks = ppo_tasks();
  workflow.models["reward"] = small_model();
  Plan plan;
  for (const Task& task : workflow.tasks) plan.tasks[task.name] = on_device(0);
  const Prediction prediction = predict(small_cluster(), workflow, plan, {});
  std::vector<double> queued_s;
  double inference_s = 0;
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::inference) continue;
    const TaskPrediction& placed = prediction.tasks.at(task.name);
    EXPECT_DOUBLE_EQ(placed.queued_s, inference_s) << task.name;  // all were ready when generation ended
    inference_s += placed.time_s;
  }
  EXPECT_GT(inference_s, prediction.tasks.at("reference_inference").time_s);
}

TEST(Predict, AgreesWithTheModelAndPlacesTasksInTime) {
  const Cluster cluster = small_cluster();
  const Workflow workflow = small_workflow();
  const Plan plan = same_everywhere(uneven_pipeline());
  const Prediction prediction = predict(cluster, workflow, plan, {});
  EXPECT_DOUBLE_EQ(prediction.iteration_s, 411.2 + 1075.2 + 4032 + 69);
  EXPECT_DOUBLE_EQ(prediction.weight_sync_s, 69);
  EXPECT_DOUBLE_EQ(prediction.tasks.at("actor_training").start_s, 411.2 + 1075.2);
  EXPECT_DOUBLE_EQ(prediction.tasks.at("actor_training").end_s, 411.2 + 1075.2 + 4032);
  EXPECT_FALSE(prediction.iteration_interval_s.has_value());
  EXPECT_NE(prediction.bottleneck.find("actor_training"), std::string::npos);
}

// 10,000 of 411.2 + 1075.2 + 4032 + 69 + 10,000 s are 64 %.
TEST(Predict, SaysThatTheControllerTakesLongerThanEveryTask) {
  Coefficients coefficients;
  Coefficient overhead;
  overhead.id = CoefficientId::iteration_overhead_s;
  overhead.value = 4000;
  coefficients.values = {overhead};
  const auto bottleneck = [&] {
    return predict(small_cluster(), small_workflow(), same_everywhere(uneven_pipeline()), coefficients)
        .bottleneck;
  };
  EXPECT_THAT(bottleneck(), ::testing::Not(::testing::HasSubstr("controller")));  // training takes 4032 s
  coefficients.values.front().value = 10'000;
  EXPECT_THAT(bottleneck(), ::testing::HasSubstr("; the controller takes more, 64 %, which no layout changes"));
}

}  // namespace
}  // namespace sextant::test
