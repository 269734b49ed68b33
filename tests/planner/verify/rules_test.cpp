// Every rule of the verifier broken once by hand, in a plan that is in order otherwise.
#include <gtest/gtest.h>

#include "planner/verify/verify.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

class Rules : public ::testing::Test {
 protected:
  Cluster cluster_ = small_cluster();
  Workflow workflow_ = small_workflow();
  Plan plan_ = plan_with(on_device(3), two_replicas(), uneven_pipeline());

  TaskPlan& generation() { return plan_.tasks.at(kGeneration); }
  TaskPlan& inference() { return plan_.tasks.at(kInference); }
  TaskPlan& training() { return plan_.tasks.at(kTraining); }
  Stage& training_stage(std::size_t j) { return training().replicas[0].stages[j]; }

  [[nodiscard]] std::vector<Violation> violations() const {
    return verify_plan(cluster_, workflow_, plan_, {}).violations;
  }
  void expect_only(const std::string& where, const char* rule, const std::string& message) const {
    const std::vector<Violation> found = violations();
    ASSERT_EQ(found.size(), 1u) << (found.size() > 1 ? describe(found[1]) : "none");
    EXPECT_EQ(found[0].where, where);
    EXPECT_EQ(found[0].rule, rule);
    EXPECT_EQ(found[0].message, message);
  }
  void use_mixture() { workflow_ = with_model(small_mixture()); }
  void set_memory(double bytes) {
    cluster_ = Cluster("small", {{"fast", device_type(100, 50, bytes)}, {"slow", device_type(40, 20)}},
                       cluster_.nodes(), cluster_.levels());
  }
  void set_host(double bytes_per_s, std::optional<double> memory_bytes) {
    auto types = cluster_.device_types();
    for (auto& [name, type] : types) type.host_bytes_per_s = assumed(bytes_per_s);
    auto nodes = cluster_.nodes();
    for (Node& one : nodes) one.host_memory_bytes = memory_bytes;
    cluster_ = Cluster("small", types, nodes, cluster_.levels());
  }
};

TEST_F(Rules, NoneIsBroken) {
  const Verdict verdict = verify_plan(cluster_, workflow_, plan_, {});
  EXPECT_TRUE(verdict.feasible()) << describe(verdict.violations.front());
  EXPECT_EQ(verdict.devices.size(), 4u);
  EXPECT_TRUE(verdict.hosts.empty());
}

// old_log_prob computes with the weights that training keeps on the host.
TEST_F(Rules, APassOnTheTrainersEngineHasNoCopyOnTheHost) {
  set_host(10, 1e9);
  for (auto& [name, task] : plan_.tasks) task.execution.offload_weights = true;
  const auto needed = [this] { return verify_plan(cluster_, workflow_, plan_, {}).hosts.front().needed_bytes; };
  const double before = needed();
  workflow_.tasks = grpo_tasks(false, {true, true});
  plan_.tasks[task_names::kOldLogProb] = training();
  plan_.tasks.at(task_names::kOldLogProb).recompute = Recompute::none;
  EXPECT_DOUBLE_EQ(needed(), before);
  plan_.tasks.at(task_names::kOldLogProb) = inference();
  EXPECT_GT(needed(), before);
}

TEST_F(Rules, APassOnTheTrainersEngineFindsItsWeightsOnTheDevices) {
  const auto resident = [this] {
    return verify_plan(cluster_, workflow_, plan_, {}).devices[0].resident_bytes;
  };
  const double before = resident();
  workflow_.tasks = grpo_tasks(false, {true, true});
  plan_.tasks[task_names::kOldLogProb] = training();
  EXPECT_DOUBLE_EQ(resident(), before);
  plan_.tasks.at(task_names::kOldLogProb) = on_device(0);
  EXPECT_DOUBLE_EQ(resident(), before + 2 * 480);
}

TEST_F(Rules, OneTaskletOfATaskOnADevice) {
  training_stage(1).devices = device_ids({1});
  expect_only("actor_training, replica 0, stage 1", "C1",
              "device 1 already holds a tasklet of this task, of actor_training, replica 0, stage 0");
  EXPECT_TRUE(verify_plan(cluster_, workflow_, plan_, {}).devices.empty());
}

TEST_F(Rules, OneTaskletADeviceAcrossReplicas) {
  inference().replicas[1].stages[0].devices = device_ids({2});
  expect_only("reference_inference, replica 1, stage 0", "C1",
              "device 2 already holds a tasklet of this task, of reference_inference, replica 0, stage 1");
}

TEST_F(Rules, DevicesExist) {
  training_stage(1).devices = device_ids({4});
  expect_only("actor_training, replica 0, stage 1", "C2", "device 4 does not exist, the cluster has 4");
  training_stage(1).devices = device_ids({-1});
  expect_only("actor_training, replica 0, stage 1", "C2", "device -1 does not exist, the cluster has 4");
}

TEST_F(Rules, StagesHaveDevices) {
  training_stage(1).devices.clear();
  expect_only("actor_training, replica 0, stage 1", "C2", "its tasklets are on no device");
}

TEST_F(Rules, TasksHaveReplicas) {
  training().replicas.clear();
  const std::vector<Violation> found = violations();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(describe(found[0]), "C2 at actor_training: the task has no replica");
}

TEST_F(Rules, EveryTaskIsPlanned) {
  plan_.tasks.erase(kInference);
  expect_only("reference_inference", "C2", "the plan does not have this task");
}

TEST_F(Rules, NoOtherTaskIsPlanned) {
  plan_.tasks["critic_training"] = on_device(0);
  expect_only("critic_training", "C2", "the workflow does not have this task");
}

TEST_F(Rules, LayersAreCovered) {
  training_stage(0).layers = 3;
  expect_only("actor_training, replica 0", "layers", "the stages hold 4 layers, the model has 3");
}

TEST_F(Rules, StagesHaveALayer) {
  training_stage(0).layers = 3;
  training_stage(1).layers = 0;
  expect_only("actor_training, replica 0, stage 1", "layers", "holds 0 layers, expected at least one");
}

TEST_F(Rules, TensorParallelismDividesHeads) {
  for (auto& [role, model] : workflow_.models) model.intermediate = 12;
  training().replicas = {{1.0, {stage(3, {0, 1, 2})}}};
  workflow_.models.at("actor").kv_heads = 1;
  expect_only("actor_training, replica 0, stage 0", "tensor parallel",
              "tensor parallelism 3 does not divide the model's 4 heads");
}

TEST_F(Rules, KeyValueHeadsAreWholeOrRepeated) {
  for (auto& [role, model] : workflow_.models) model.heads = 12;
  workflow_.models.at("actor").kv_heads = 3;
  expect_only("actor_training, replica 0, stage 0", "tensor parallel",
              "tensor parallelism 2 neither divides the model's 3 key-value heads nor is a multiple of them");
}

TEST_F(Rules, TensorParallelismDividesKeyHeadsOfLinearAttention) {
  workflow_.models.at("actor").linear_attention = LinearAttention{1, 1, 2, 4, 4, 4};
  expect_only("actor_training, replica 0, stage 0", "tensor parallel",
              "tensor parallelism 2 does not divide the model's 1 key heads of linear attention");
}

TEST_F(Rules, TensorParallelismDividesColumns) {
  workflow_.models.at("actor").intermediate = 7;
  expect_only("actor_training, replica 0, stage 0", "tensor parallel",
              "tensor parallelism 2 does not divide the model's 7 intermediate dimensions");
}

TEST_F(Rules, TensorParallelismDividesColumnsOfExperts) {
  use_mixture();
  expect_only("actor_training, replica 0, stage 0", "tensor parallel",
              "tensor parallelism 2 does not divide the model's 5 intermediate dimensions of an expert");
}

TEST_F(Rules, ContextParallelismDividesStages) {
  generation().replicas = {{1.0, {stage(3, {1, 2, 3})}}};
  generation().execution.context_parallel = 2;
  expect_only("actor_generation, replica 0, stage 0", "context parallel",
              "context parallelism 2 does not divide its 3 devices");
}

TEST_F(Rules, ExpertsAreThere) {
  inference().execution.expert_parallel = 2;
  expect_only("reference_inference", "expert parallel", "expert parallelism 2 for a model without experts");
}

TEST_F(Rules, ExpertsAreDealtEvenly) {
  use_mixture();
  training() = on_device(0);
  inference().execution.expert_parallel = 3;
  expect_only("reference_inference", "expert parallel",
              "expert parallelism 3 does not divide the model's 4 experts");
}

TEST_F(Rules, ExpertsAreOnDevicesThatHoldTheLayer) {
  use_mixture();
  training() = on_device(0);
  training().execution.expert_parallel = 2;
  expect_only("actor_training, replica 0, stage 0", "expert parallel",
              "experts are distributed over 2 devices, and 1 hold such a stage in all replicas");
  training().execution.expert_tensor_parallel = 2'000'000'000;
  expect_only("actor_training, replica 0, stage 0", "expert parallel",
              "experts are distributed over 4000000000 devices, and 1 hold such a stage in all replicas");
}

TEST_F(Rules, ChunksHaveLayers) {
  training().execution.virtual_stages = 2;
  expect_only("actor_training, replica 0, stage 1", "virtual stages", "2 chunks of 1 layers");
}

TEST_F(Rules, SharesSumToOne) {
  inference().replicas[0].batch_share = 0.25;
  expect_only("reference_inference", "batch shares", "the batch shares sum to 0.750, not to 1");
}

TEST_F(Rules, EveryReplicaHasASequence) {
  inference().replicas[0].batch_share = 0.99;
  inference().replicas[1].batch_share = 0.01;
  expect_only("reference_inference, replica 1", "batch shares", "its share of 12 sequences is none");
}

TEST_F(Rules, MicroBatchesAreWholeSequences) {
  training().execution.micro_batches = 13;
  expect_only("actor_training, replica 0", "micro-batches", "13 micro-batches of 12.0 sequences");
}

TEST_F(Rules, TokenBudgetsHoldASequence) {
  training().execution.micro_batch_tokens = 7;
  expect_only("actor_training", "micro-batches", "micro-batches of 7.00 tokens hold no sequence of 8.00");
}

TEST_F(Rules, TheCacheHoldsASequence) {
  generation().execution.kv_cache_bytes = 8 * 3 * 8 * 2;  // 8 tokens, 3 layers, 8 elements, 2 bytes
  EXPECT_TRUE(violations().empty());
  generation().execution.kv_cache_bytes -= 1;
  expect_only("actor_generation, replica 0, stage 0", "KV cache",
              "the KV cache of one sequence takes 384 B of a device, and it may have 383 B");
}

TEST_F(Rules, OffloadingNeedsALinkToTheHost) {
  generation().execution.offload_weights = true;
  expect_only("actor_generation", "offloading",
              "offloads from device type slow, for which the cluster has no host_bytes_per_s");
}

TEST_F(Rules, ShardsAreDividedEvenlyAndOnlyByZero) {
  training().execution.zero_stage = 0;
  training().execution.sharded_over = 1;
  expect_only("actor_training", "sharding", "states are sharded over 1 devices without ZeRO");
  training().execution.zero_stage = 3;
  training().execution.sharded_over = 64;
  expect_only("actor_training", "sharding",
              "states are sharded over 64 devices, which do not divide the " +
                  std::to_string(training().data_parallel() * training().execution.context_parallel) +
                  " that hold them");
}

TEST_F(Rules, LayersAreOffloadedWhereActivationsAre) {
  training().execution.offload_activation_layers = 1;
  expect_only("actor_training", "offloading",
              "activations of 1 layers are offloaded, but offload_activations is off");
}

TEST_F(Rules, DevicesHaveARateForTheFormat) {
  generation().execution.attention_precision = Precision::fp8;
  expect_only("actor_generation", "rates",
              "computes in fp8 on device type slow, for which the cluster has no flop_per_s in this format");
}

// 480 parameters: of the actor's training 16 bytes of 160 on either fast device, of the reference 2 bytes of
// 320.
TEST_F(Rules, MemoryOfDevices) {
  const Verdict roomy = verify_plan(cluster_, workflow_, plan_, {});
  ASSERT_EQ(roomy.devices[0].device, DeviceId{0});
  EXPECT_DOUBLE_EQ(roomy.devices[0].resident_bytes, 16 * 160 + 2 * 320);
  // Two micro-batches of 3 x 8 tokens in two layers: 16 elements whole, 72 split; the embedding's output.
  // The layer at work adds the gradients of one micro-batch.
  EXPECT_DOUBLE_EQ(roomy.devices[0].working_bytes, 2 * 24 * (2 * (2 * (16 + 36) + 4.0) + 16 + 36));
  const double needed = roomy.devices[0].needed_bytes();
  set_memory(needed);
  EXPECT_TRUE(violations().empty());
  set_memory(needed - 100);
  const std::vector<Violation> found = violations();
  ASSERT_EQ(found.size(), 2u);  // devices 0 and 1 hold the same
  EXPECT_EQ(found[0].where, "device 0 (a/0)");
  EXPECT_EQ(found[0].rule, "C3");
  EXPECT_EQ(
      found[0].message,
      "states and reserved KV caches take 3.12 KiB and the largest working set 12.6 KiB, together 15.7 KiB and "
      "there are 15.6 KiB, 100 B too few");
}

// An engine on device 0 with 40000 bytes for its cache, beside training and the reference (MemoryOfDevices). It
// has 2 * 480 bytes of weights. Training's working set is the same as without it.
TEST_F(Rules, MemoryOfDevicesWithAnEngine) {
  set_host(10, std::nullopt);
  const double others = 16 * 160 + 2 * 320, training_bytes = 2 * 24 * (2 * (2 * (16 + 36) + 4.0) + 16 + 36);
  generation() = on_device(0);
  generation().execution.kv_cache_bytes = 40000;
  const DeviceMemory stays = verify_plan(cluster_, workflow_, plan_, {}).devices[0];
  EXPECT_DOUBLE_EQ(stays.resident_bytes, others + 2 * 480 + 40000);
  EXPECT_DOUBLE_EQ(stays.working_bytes, training_bytes);
  generation().execution.offload_weights = true;
  const DeviceMemory sleeps = verify_plan(cluster_, workflow_, plan_, {}).devices[0];
  EXPECT_DOUBLE_EQ(sleeps.resident_bytes, others);
  EXPECT_DOUBLE_EQ(sleeps.working_bytes, 2 * 480 + 40000);
}

TEST_F(Rules, MemoryOfHosts) {
  set_host(10, 3 * 2 * 480);
  generation().execution.offload_weights = true;  // 2 * 480 bytes, a tenth more where they are pinned
  EXPECT_TRUE(violations().empty());
  training() = on_device(3);
  training().execution.offload_optimizer = true;  // 12 + 4 + 2 bytes, with gradients in fp32 and new weights
  expect_only("node b", "host memory",
              "offloaded states take 10.3 KiB and there are 2.81 KiB, 7.50 KiB too few");
  set_host(10, std::nullopt);  // the cluster does not say
  EXPECT_TRUE(violations().empty());
}

TEST_F(Rules, ValuesThatNoDocumentHolds) {
  training().micro_batch_sequences = 0;
  expect_only("actor_training", "values", "micro_batch_sequences is 0, expected at least 1");
  training() = uneven_pipeline();
  training().execution.context_parallel = 0;
  expect_only("actor_training", "values", "context_parallel is 0, expected at least 1");
  training() = uneven_pipeline();
  training().execution.zero_stage = 4;
  expect_only("actor_training", "values", "zero_stage is 4, expected 0 to 3");
  training() = uneven_pipeline();
  training().execution.semantics = "trl";
  expect_only("actor_training", "values", "unknown semantics trl");
  training() = uneven_pipeline();
  training().execution.kv_cache_bytes = -1;
  expect_only("actor_training", "values", "kv_cache_bytes is -1.00 bytes, expected 0 or more");
  training() = uneven_pipeline();
  training().replicas[0].batch_share = 1.5;
  expect_only("actor_training", "values", "a batch_share is 1.50, expected more than 0 and at most 1");
}

TEST_F(Rules, CoefficientsOfTypeAndFrameworkCount) {
  Coefficients coefficients;
  Coefficient states;
  states.id = CoefficientId::memory_state_weight;
  states.value = 1.5;
  Coefficient context;
  context.id = CoefficientId::memory_context_bytes;
  context.framework = "mine";
  context.value = 1000;
  coefficients.values = {states, context};
  const Verdict mine = verify_plan(cluster_, workflow_, plan_, coefficients, "mine");
  EXPECT_DOUBLE_EQ(mine.devices[0].resident_bytes, 1000 + 1.5 * (16 * 160 + 2 * 320));
  const Verdict other = verify_plan(cluster_, workflow_, plan_, coefficients, "other");
  EXPECT_DOUBLE_EQ(other.devices[0].resident_bytes, 1.5 * (16 * 160 + 2 * 320));
}

}  // namespace
}  // namespace sextant::test
