// Phase 1: replicas of rollout, pipelines of training, and what they cost under the model.
#include "planner/two_phase/search_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "planner/search/search_run.h"
#include "planner/two_phase/pipelines.h"
#include "sextant/predict.h"
#include "tests/planner/neutral.h"
#include "tests/planner/two_phase/hex_case.h"

namespace sextant::test {
namespace {

std::vector<DeviceId> range(int first, int count) {
  std::vector<DeviceId> devices;
  for (int d = first; d < first + count; ++d) devices.push_back(DeviceId{d});
  return devices;
}

int position(const Workflow& workflow, const char* name) {
  return static_cast<int>(&workflow.task(name) - workflow.tasks.data());
}

std::string type_of(const Cluster& cluster, const Stage& stage) {
  return cluster.type_name(stage.devices.front());
}

TEST(Layers, AreDealtBySpeed) {
  EXPECT_EQ(layers_by_speed(12, {3, 1}), (std::vector<int>{9, 3}));
  EXPECT_EQ(layers_by_speed(10, {1, 1, 1}), (std::vector<int>{4, 3, 3}));
  EXPECT_EQ(layers_by_speed(4, {1000, 1, 1}), (std::vector<int>{2, 1, 1}));  // each at least one
}

TEST(Pieces, AreMachinesOfOneClassWithAsManyDevices) {
  const Cluster cluster = hex_cluster(2, 2, 4);
  const std::vector<PieceClass> classes = pieces_of(cluster, range(2, 12));
  ASSERT_EQ(classes.size(), 4U);  // 2 of the first machine, 4 of the second, 4 and 2 of the other type
  std::vector<int> sizes;
  sizes.reserve(classes.size());
  for (const PieceClass& of_class : classes) sizes.push_back(of_class.devices);
  EXPECT_EQ(sizes, (std::vector<int>{2, 4, 4, 2}));
  EXPECT_EQ(pieces_of(cluster, range(0, 16)).front().count(), 2);
}

// Section 4.2.1: tensor and data parallelism use one type each.
TEST(Pipelines, KeepTypesApart) {
  const Cluster cluster = hex_cluster(1, 1);
  const auto pools = type_pools(cluster, range(0, 16), Precision::bf16);
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_GT(pools.front().flop_per_s, pools.back().flop_per_s);
  const auto layouts = pipelines_of(pools, model_8b(), {8, 512});
  std::set<std::pair<int, int>> widths;  // of both types in one pipeline
  for (const std::vector<Replica>& replicas : layouts) {
    std::set<DeviceId> seen;
    for (const Replica& replica : replicas) {
      ASSERT_EQ(replica.stages.size(), replicas.front().stages.size());
      int layers = 0;
      for (std::size_t j = 0; j < replica.stages.size(); ++j) {
        const Stage& stage = replica.stages[j];
        layers += stage.layers;
        EXPECT_EQ(type_of(cluster, stage), type_of(cluster, replicas.front().stages[j]));
        for (const DeviceId device : stage.devices) {
          EXPECT_EQ(cluster.node_of(device), cluster.node_of(stage.devices.front()));
          EXPECT_TRUE(seen.insert(device).second) << device.value;
        }
      }
      EXPECT_EQ(layers, 32);
    }
    const Replica& first = replicas.front();
    if (type_of(cluster, first.stages.front()) != type_of(cluster, first.stages.back()))
      widths.emplace(first.stages.front().width(), first.stages.back().width());
  }
  // Each type has a width of its own: all 16 pairs of 1, 2, 4 and 8.
  EXPECT_EQ(widths.size(), 16U);
}

TEST(Pipelines, FasterTypesGetMoreLayers) {
  const auto pools = type_pools(hex_cluster(1, 1), range(0, 16), Precision::bf16);
  for (const std::vector<Replica>& replicas : pipelines_of(pools, model_8b(), {8, 512})) {
    const std::vector<Stage>& stages = replicas.front().stages;
    if (stages.size() == 2 && stages[0].width() == stages[1].width() && stages[0].devices.front().value < 8 &&
        stages[1].devices.front().value >= 8) {
      // 756 to 148: 26.8 and 5.2 of 32.
      EXPECT_EQ(stages[0].layers, 27);
      EXPECT_EQ(stages[1].layers, 5);
    }
  }
}

// Costs task by task equal those of the whole model, with different replicas and stages too.
TEST(Costing, EqualsThePrediction) {
  const Cluster cluster = hex_cluster(1, 2);
  for (const Mode mode : {Mode::asynchronous, Mode::synchronous}) {
    const Workflow workflow = hex_grpo(mode);
    const PlanRequest request{cluster, workflow, kNeutral};
    const Costing costing(request, workflow);
    SearchPhase phase(costing, {{1, 4, 16}, false, 8, {}});
    for (const int training : {6, 8, 13, 20}) {
      const SplitPlans found = phase.search({range(0, training), range(training, 24 - training)});
      ASSERT_FALSE(found.plans.empty()) << training;
      for (const Choices& choices : found.plans) {
        const Prediction whole = predict(cluster, workflow, costing.plan_of(choices), kNeutral);
        EXPECT_NEAR(costing.iteration_s(choices), whole.iteration_s, kRounding * whole.iteration_s);
        double excess = -1e300;
        for (const DeviceMemory& memory : whole.memory)
          excess = std::max(excess, memory.needed_bytes() - memory.capacity_bytes);
        EXPECT_NEAR(costing.excess_bytes(choices), excess, kRounding * 80e9);
      }
    }
  }
}

TEST(Costing, TheFirstReplicaBoundsTheTask) {
  const Cluster cluster = hex_cluster(1, 1);
  const Workflow workflow = hex_grpo();
  const PlanRequest request{cluster, workflow, kNeutral};
  const Costing costing(request, workflow);
  const int task = position(workflow, task_names::kActorTraining);
  const auto pools = type_pools(cluster, range(0, 16), Precision::bf16);
  for (const std::vector<Replica>& replicas : pipelines_of(pools, model_8b(), {8, 512})) {
    TaskPlan plan;
    plan.replicas = replicas;
    const double min_s = costing.first_replica_s(task, plan);
    EXPECT_LE(min_s, costing.cost(task, plan)->time_s * (1 + kRounding));
    EXPECT_GT(min_s, 0);
  }
}

TrainingLimits all_ways() {
  TrainingLimits limits;
  limits.micro_batch_sequences = {1, 4, 16};
  limits.tensor_parallel_limit = 8;
  limits.keeps_what_does_not_fit = true;
  limits.slack = std::numeric_limits<double>::infinity();
  return limits;
}

// Plans that the first replica's bound excludes are not faster, whatever the execution options.
TEST(Training, NothingThatIsFasterAndFitsIsLeftOut) {
  const Cluster cluster = hex_cluster(2, 1);
  Workflow workflow = hex_grpo();
  workflow.response_tokens = {LengthKind::empirical, {200, 900, 7000}, {5, 4, 1}};
  PlanRequest request{cluster, workflow, kNeutral};
  Execution packed;
  packed.packed = true;
  packed.fused_attention = true;
  request.choices.assign(workflow.tasks.size(), one_choice(packed));
  const Costing costing(request, workflow);
  TrainingSearch search(costing, position(workflow, task_names::kActorTraining));
  for (const int devices : {5, 8, 13, 20, 24}) {
    TrainingLimits limits = all_ways();
    const std::vector<ChoicePtr> all = search.search(range(0, devices), limits);
    limits.slack = 1;
    limits.keeps_what_does_not_fit = false;
    const std::vector<ChoicePtr> near = search.search(range(0, devices), limits);
    const auto fits = [](const ChoicePtr& choice) { return choice->need_fraction <= 1; };
    const auto fastest = std::find_if(all.begin(), all.end(), fits);
    ASSERT_EQ(fastest == all.end(), near.empty()) << devices;
    if (fastest == all.end()) continue;
    EXPECT_TRUE(fits(near.front()));
    EXPECT_DOUBLE_EQ(near.front()->time_s, (*fastest)->time_s) << devices;
    EXPECT_LE(near.size(), all.size());
  }
}

// On devices of one type the search has every layout that uniform options have.
std::vector<TaskPlan> plans_of(const std::vector<ChoicePtr>& choices) {
  std::vector<TaskPlan> plans;
  plans.reserve(choices.size());
  for (const ChoicePtr& choice : choices) plans.push_back(choice->plan);
  return plans;
}

// Earlier queries change nothing, nor does a query that was cut short.
TEST(Training, RemembersWhatItWasAsked) {
  const Cluster cluster = hex_cluster(1, 1);
  const Workflow workflow = hex_grpo();
  const PlanRequest request{cluster, workflow, kNeutral};
  const Costing costing(request, workflow);
  const int task = position(workflow, task_names::kActorTraining);
  TrainingLimits eager = all_ways();
  eager.slack = 1.3;
  eager.keeps_what_does_not_fit = false;
  int looks = 0;
  TrainingLimits cut_short = all_ways();
  cut_short.is_over = [&] { return ++looks > 20; };
  TrainingLimits larger = all_ways();
  larger.micro_batch_sequences = {16};
  TrainingSearch asked(costing, task);
  EXPECT_LT(asked.search(range(0, 16), cut_short).size(), 20U);
  for (const auto& [devices, limits] : {std::pair{range(0, 16), eager},
                                        {range(0, 16), all_ways()},
                                        {range(0, 8), all_ways()},
                                        {range(0, 8), larger}}) {
    TrainingSearch fresh(costing, task);
    const std::vector<TaskPlan> plans = plans_of(asked.search(devices, limits));
    EXPECT_FALSE(plans.empty());
    EXPECT_EQ(plans, plans_of(fresh.search(devices, limits)));
  }
}

TEST(Training, IsNoSlowerThanUniformOptionsOnOneType) {
  const Cluster cluster = hex_cluster(2, 0);
  const Workflow workflow = hex_grpo();
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = all_ways().micro_batch_sequences;
  SearchRun run(request, 0);
  const Costing costing(request, workflow);
  for (const char* name : {task_names::kActorTraining, task_names::kReferenceInference}) {
    TrainingSearch search(costing, position(workflow, name));
    for (const int count : {4, 8, 12, 16}) {
      std::vector<std::uint16_t> devices(static_cast<std::size_t>(count));
      std::iota(devices.begin(), devices.end(), std::uint16_t{0});
      const double uniform_s = run.options().of(position(workflow, name), devices).front().value.time_s;
      EXPECT_LE(search.search(range(0, count), all_ways()).front()->time_s, uniform_s * (1 + kRounding));
    }
  }
}

// States of both sides' other tasks are left room for, and what does not fit together is not chosen.
TEST(SearchPhase, TasksOfASideFitTogether) {
  const Cluster cluster = hex_cluster(1, 2);
  const Workflow workflow = ppo_8b(Mode::asynchronous);
  const PlanRequest request{cluster, workflow, kNeutral};
  const Costing costing(request, workflow);
  SearchPhase phase(costing, {{1, 4, 16}, false, 8, {}});
  int fitting = 0;
  for (const int training : {2, 4, 6, 8, 12}) {
    const SplitPlans found = phase.search({range(0, training), range(training, 24 - training)});
    EXPECT_TRUE(found.rollout_fits);
    ASSERT_FALSE(found.plans.empty());
    EXPECT_EQ(found.training_fits, costing.excess_bytes(found.plans.front()) <= 0) << training;
    fitting += found.training_fits ? 1 : 0;
  }
  // Two trainings of 16 bytes and four copies of 2 bytes for 8e9 weights: more than three devices of 80 GB
  // have.
  EXPECT_FALSE(phase.search({range(0, 3), range(3, 21)}).training_fits);
  EXPECT_GE(fitting, 3);
}

// Weight synchronization is nobody's alone: some of the ways differ in it, and none is a way of the other side.
TEST(SearchPhase, OffersWaysWithLessToSynchronize) {
  const Cluster cluster = hex_cluster(2, 1);
  const Workflow workflow = hex_grpo();
  PlanRequest request{cluster, workflow, kNeutral};
  request.weight_sync.method = WeightSyncMethod::per_replica;  // which pays for both sides' layouts
  const Costing costing(request, workflow);
  SearchPhase phase(costing, {{1, 4, 16}, false, 8, {}});
  const SplitPlans found = phase.search({range(0, 14), range(14, 10)});
  ASSERT_GT(found.plans.size(), 1U);
  const double first_s = costing.moved_s(found.plans.front());
  double min_s = first_s;
  for (const Choices& choices : found.plans) min_s = std::min(min_s, costing.moved_s(choices));
  EXPECT_LT(min_s, 0.85 * first_s);  // the copies themselves stay
}

class Rollouts : public ::testing::Test {
 protected:
  [[nodiscard]] ChoicePtr planned(const std::vector<DeviceId>& devices, const RolloutLimits& limits = {}) {
    RolloutSearch search(costing_, task_);
    auto plan = search.plan(pieces_of(cluster_, devices), limits);
    return plan ? costing_.cost(task_, std::move(*plan)) : nullptr;
  }

  Cluster cluster_ = hex_cluster(1, 1);
  Workflow workflow_ = hex_grpo();
  PlanRequest request_{cluster_, workflow_, kNeutral};
  Costing costing_{request_, workflow_};
  int task_ = position(workflow_, task_names::kActorGeneration);
};

TEST_F(Rollouts, FinishTogetherOnUnlikeGpus) {
  const ChoicePtr choice = planned(range(0, 16));
  ASSERT_NE(choice, nullptr);
  int sequences = 0;
  double fast = 0, wide = 0;  // sequences of each type
  for (std::size_t r = 0; r < choice->plan.replicas.size(); ++r) {
    const double of_replica = choice->work.replicas[r].sequences;
    sequences += static_cast<int>(of_replica);
    (type_of(cluster_, choice->plan.replicas[r].stages.front()) == "h800" ? fast : wide) += of_replica;
  }
  EXPECT_EQ(sequences, workflow_.sequences());
  EXPECT_GT(fast, 0);
  EXPECT_GT(wide, 0);
  // Both types alone take longer, and no plan is faster than both would be with nothing lost.
  const double fast_s = planned(range(0, 8))->time_s, wide_s = planned(range(8, 8))->time_s;
  EXPECT_LT(choice->time_s, std::min(fast_s, wide_s));
  EXPECT_GE(choice->time_s, 1 / (1 / fast_s + 1 / wide_s) * 0.5);
}

// No layout with replicas of one width, shares as even as the program's own, is faster.
TEST_F(Rollouts, AreNoSlowerThanEqualReplicas) {
  const ChoicePtr choice = planned(range(0, 16));
  for (const int width : {1, 2, 4, 8}) {
    for (const int stages : {1, 2, 4}) {
      if (width * stages > 8) continue;
      TaskPlan plan;
      const int replicas = 16 / (width * stages);
      plan.replicas = expand_layout({replicas, stages, width, DeviceId{0}}, 32);
      EXPECT_LE(choice->time_s, costing_.cost(task_, plan)->time_s * 1.001) << width << " x " << stages;
    }
  }
}

// One sequence more or less of any replica does not make the last one earlier by more than a sequence's time.
TEST_F(Rollouts, HaveBalancedReplicas) {
  const ChoicePtr choice = planned(range(0, 16));
  ReplicaTimes times(costing_, task_);
  double last_s = 0, first_s = 1e300, one_s = 0;
  for (std::size_t r = 0; r < choice->plan.replicas.size(); ++r) {
    const Replica& replica = choice->plan.replicas[r];
    const NodeId machine = cluster_.node_of(replica.stages.front().devices.front());
    const ReplicaKind kind{machine_class_of(cluster_, machine), machine, replica.stages.front().width(),
                           replica.pipeline_parallel()};
    const int sequences = static_cast<int>(choice->work.replicas[r].sequences);
    ReplicaCurve& curve = times.of(kind, {1, 0});
    const double time_s = curve.time_s(sequences);
    last_s = std::max(last_s, time_s);
    first_s = std::min(first_s, time_s);
    if (sequences > 1) one_s = std::max(one_s, time_s - curve.time_s(sequences - 1));
  }
  EXPECT_LE(last_s - first_s, 2 * one_s + 1e-3 * last_s);
}

TEST_F(Rollouts, NeedMemoryForTheirCache) {
  EXPECT_EQ(planned({}), nullptr);
  Workflow long_responses = workflow_;
  long_responses.response_tokens = fixed_length(400'000);
  const Costing costing(request_, long_responses);
  RolloutSearch search(costing, task_);
  const std::vector<PieceClass> pieces = pieces_of(cluster_, range(0, 16));
  EXPECT_FALSE(search.plan(pieces, {}).has_value());
  // Decoded one after the other they fit; the batch is cut by SearchPhase.
  const auto plan = search.plan(pieces, {{1, 1}, 1, 8});
  ASSERT_TRUE(plan.has_value());
  EXPECT_LE(costing.cost(task_, *plan)->need_fraction, 1);
}

TEST(ReplicaTimes, AreTheModelsBetweenItsPointsToo) {
  const Cluster cluster = hex_cluster(1, 1);
  const Workflow workflow = hex_grpo();
  const PlanRequest request{cluster, workflow, kNeutral};
  const Costing costing(request, workflow);
  ReplicaTimes times(costing, position(workflow, task_names::kReferenceInference));
  const ReplicaKind kind{machine_class_of(cluster, NodeId{0}), NodeId{0}, 2, 2};
  ReplicaCurve& curve = times.of(kind, {4, 0});
  constexpr double kInterpolation = 0.01;  // micro-batches are whole, times in between are not
  for (const int sequences : {1, 10, 64, 131, 299, 510}) {
    TaskPlan plan;
    plan.micro_batch_sequences = 4;
    plan.replicas = expand_layout({2, 2, 2, DeviceId{0}}, 32);
    plan.replicas[0].batch_share = sequences / 512.0;
    plan.replicas[1].batch_share = 1 - plan.replicas[0].batch_share;
    const double model_s = costing.first_replica_s(position(workflow, task_names::kReferenceInference), plan);
    EXPECT_NEAR(curve.time_s(sequences), model_s, kInterpolation * model_s) << sequences;
    // The capacity in that time is about as many sequences.
    EXPECT_NEAR(curve.capacity(model_s * (1 + 1e-9)), sequences, 4) << sequences;
  }
  EXPECT_EQ(curve.capacity(0), 0);
}

}  // namespace
}  // namespace sextant::test
