// Every formula of HetRL B.2 with numbers worked by hand on the cluster of small_problem.h.
#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/bubble.h"
#include "costmodel/terms/compute.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/decode.h"
#include "costmodel/terms/optimizer.h"
#include "costmodel/terms/overhead.h"
#include "costmodel/terms/pipeline_parallel.h"
#include "costmodel/terms/tensor_parallel.h"
#include "costmodel/terms/traffic.h"
#include "costmodel/terms/weight_sync.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

constexpr const char* kTraining = "actor_training";
constexpr const char* kInference = "reference_inference";
constexpr const char* kGeneration = "actor_generation";

// Forward FLOP of a layer and a sequence of 8 tokens: projections 2 * 4 * 8 * 16 = 1024, attention
// 2 * 2 * 64 * 4 = 1024, MLP 2 * 3 * 8 * 32 = 1536.
constexpr double kLayerFlop = 3584;
// The same for the 3 tokens of the prompt: 384 + 144 + 576.
constexpr double kPrefillLayerFlop = 1104;

class Terms : public ::testing::Test {
 protected:
  Case<> small{small_cluster(), small_workflow(), same_everywhere(uneven_pipeline())};
  TaskWork training = small.work(kTraining);
  TaskWork inference = small.work(kInference);
  TaskWork generation = small.work(kGeneration);

  [[nodiscard]] StageOfTask<double> at(const TaskWork& task, int stage) const {
    return {small.problem, task, 0, stage};
  }
};

TEST_F(Terms, WorkCountsMicroBatches) {
  EXPECT_EQ(training.replicas[0].sequences, 12);
  EXPECT_EQ(training.replicas[0].micro_batches, 4);
  EXPECT_EQ(training.replicas[0].micro_batch_sequences, 3);
  EXPECT_EQ(generation.replicas[0].decode_batches, 1);
}

TEST_F(Terms, ComputeOfForwardAndBackward) {
  // 3 * 4 * 3 * 2 * 3584 / (100 * 2)
  EXPECT_DOUBLE_EQ(terms::compute_s(at(training, 0)), 3 * 4 * 3 * 2 * kLayerFlop / (100 * 2));
  // One layer on one slow device.
  EXPECT_DOUBLE_EQ(terms::compute_s(at(training, 1)), 3 * 4 * 3 * 1 * kLayerFlop / 40);
}

TEST_F(Terms, ComputeOfForward) {
  EXPECT_DOUBLE_EQ(terms::compute_s(at(inference, 0)), 430.08);
  EXPECT_DOUBLE_EQ(terms::compute_s(at(inference, 1)), 1075.2);
}

TEST_F(Terms, PrefillSeesThePromptOnly) {
  EXPECT_DOUBLE_EQ(terms::compute_s(at(generation, 0)), 12 * 2 * kPrefillLayerFlop / 200);
  EXPECT_DOUBLE_EQ(terms::compute_s(at(generation, 1)), 12 * kPrefillLayerFlop / 40);
}

TEST_F(Terms, ComputeIsThatOfTheSlowestShard) {
  TaskPlan across = uneven_pipeline();
  across.replicas[0].stages = {stage(3, {0, 2})};  // a fast and a slow device share every layer
  Case<> mixed(small_cluster(), small_workflow(), same_everywhere(across));
  const TaskWork task = mixed.work(kInference);
  EXPECT_DOUBLE_EQ(terms::compute_s(StageOfTask<double>{mixed.problem, task, 0, 0}),
                   12 * 3 * kLayerFlop / (40 * 2));
}

TEST_F(Terms, TensorParallelVolume) {
  // 2 bytes * 3 sequences * 8 tokens * 4 * 2 * (2 - 1) / 2
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_volume_bytes(at(training, 0)), 192);
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_volume_bytes(at(training, 1)), 0);
}

TEST_F(Terms, TensorParallelCountsAllReduces) {
  const double step = 1 + 192.0 / 100;
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(inference, 0)), 2 * 4 * 2 * step);
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(training, 0)), 4 * 4 * 2 * step);
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(training, 1)), 0);
  TaskPlan recomputed = uneven_pipeline();
  recomputed.recompute = Recompute::full;
  training.plan = &recomputed;
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(training, 0)), 6 * 4 * 2 * step);
}

TEST_F(Terms, PipelineParallel) {
  // Volume 2 * 3 * 8 * 4 = 192 over the a-b link.
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(at(inference, 0)), 4 * (5 + 19.2));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(at(training, 0)), 2 * 4 * (5 + 19.2));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(at(training, 1)), 0);
}

TEST_F(Terms, BubbleIsOneMicroBatchInTheLaterStages) {
  const std::vector<double> stage_s{1000, 300, 100};
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, training, training.replicas[0], stage_s),
                   (300.0 + 100.0) / 4);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, inference, inference.replicas[0], stage_s), 0);
  small.set(CoefficientId::pipeline_fill_weight, 0.5);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, inference, inference.replicas[0], stage_s), 50);
}

TEST_F(Terms, BubbleOfUnequalStages) {
  // 4 micro-batches. The appendix: the second stage's 1000 / 4; in truth the first stage's 300 / 4.
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, training, training.replicas[0], {300, 1000}), 250);
  small.set(CoefficientId::bubble_slowest_weight, 1);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, training, training.replicas[0], {300, 1000}), 75);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, training, training.replicas[0], {1000, 300, 100}), 100);
  small.set(CoefficientId::bubble_slowest_weight, 0.5);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, training, training.replicas[0], {300, 1000}), 162.5);
}

TEST_F(Terms, BubbleReturnsWithEveryMiniBatch) {
  small.workflow.mini_batches = 2;  // two pipelines of 6 sequences, 2 micro-batches each
  const TaskWork task = small.work(kTraining);
  EXPECT_EQ(task.replicas[0].micro_batches, 4);
  EXPECT_DOUBLE_EQ(terms::bubble_s(small.problem, task, task.replicas[0], {1000, 300}), 2 * 300.0 / 4);
}

TEST_F(Terms, DataParallelTakesTheSlowestStage) {
  Case<> twice(small_cluster(), small_workflow(), same_everywhere(two_replicas()));
  const TaskWork task = twice.work(kTraining);
  // Stage 0: 2 * 2 * 160 * 2 * (1/2) = 640 bytes over a-a, 1 + 6.4. Stage 1: 320 bytes over b-b, 2 + 6.4.
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(twice.problem, task, 0.0), 8.4);
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(small.problem, training, 0.0), 0);
}

TEST_F(Terms, DataParallelOfUnequalTensorParallelism) {
  // Replica 0: 3 layers on {0, 1}; replica 1: 1 layer on {2}, 2 on {3}. Segments of 1 and 2 layers; a shard is
  // at most the whole layer (TP 1 in replica 1): 2 * 160 * 2 * (1/2) / 1 = 320 and 640 bytes, all over a-b.
  TaskPlan plan;
  plan.replicas = {{0.5, {stage(3, {0, 1})}}, {0.5, {stage(1, {2}), stage(2, {3})}}};
  plan.micro_batch_sequences = 3;
  Case<> mixed(small_cluster(), small_workflow(), same_everywhere(plan));
  const TaskWork task = mixed.work(kTraining);
  const std::vector<GradientGroup>& groups = task.gradient_groups;
  ASSERT_EQ(groups.size(), 2u);  // shards 0 and 1 cost the same
  EXPECT_EQ(groups[0].layers, 1);
  EXPECT_EQ(groups[1].members, (std::vector<DeviceId>{DeviceId{0}, DeviceId{3}}));
  // Devices 0 and 1 hold both segments and pay for both.
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(mixed.problem, task, 0.0), (5 + 32.0) + (5 + 64.0));
}

TEST_F(Terms, DataParallelCountsOnlySegmentsThatADeviceHolds) {
  // Replica 0: 2 layers on {0}, 1 on {1}; replica 1: 1 on {2}, 2 on {3}. Segments of one layer, 320 bytes over
  // a-b: 0 and 3 hold two of them, nobody all three.
  TaskPlan plan;
  plan.replicas = {{0.5, {stage(2, {0}), stage(1, {1})}}, {0.5, {stage(1, {2}), stage(2, {3})}}};
  plan.micro_batch_sequences = 3;
  Case<> cut(small_cluster(), small_workflow(), same_everywhere(plan));
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(cut.problem, cut.work(kTraining), 0.0), 2 * (5 + 32.0));
}

TEST_F(Terms, DataParallelOncePerMiniBatch) {
  Workflow workflow = small_workflow();
  workflow.mini_batches = 3;
  Case<> twice(small_cluster(), workflow, same_everywhere(two_replicas()));
  const TaskWork task = twice.work(kTraining);
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(twice.problem, task, 0.0), 3 * 8.4);
}

TEST_F(Terms, DecodeReadsWeightsOncePerStepAndWave) {
  TaskPlan waves = uneven_pipeline();
  waves.decode_batch_sequences = 4;  // 12 sequences in 3 waves
  Case<> decoding(small_cluster(), small_workflow(), same_everywhere(waves));
  const TaskWork task = decoding.work(kGeneration);
  // 5 tokens * 3 waves * 2 bytes * 2 layers * 160 / (50 * 2), and one layer on a slow device.
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(StageOfTask<double>{decoding.problem, task, 0, 0}), 96);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(StageOfTask<double>{decoding.problem, task, 0, 1}), 240);
  EXPECT_DOUBLE_EQ(terms::decode_s(StageOfTask<double>{decoding.problem, task, 0, 1}),
                   240);  // all else is neutral
}

TEST_F(Terms, DecodeBatchIsNeverLargerThanTheReplica) {
  TaskPlan large = uneven_pipeline();
  large.decode_batch_sequences = 100;
  Case<> decoding(small_cluster(), small_workflow(), same_everywhere(large));
  EXPECT_EQ(decoding.work(kGeneration).replicas[0].decode_batches, 1);
}

TEST_F(Terms, DecodeExtras) {
  // 12 sequences * 5 tokens; mean context 3 + 3 = 6. Stage 1, one layer on a slow device: 320 bytes of weights.
  const double reads = 5 * 320 / 20.0;
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(at(generation, 1)), reads);
  small.set(CoefficientId::decode_kv_read_weight, 1);
  // Keys and values 2 * 4 elements of 2 bytes a token and layer.
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(at(generation, 1)), reads + 60 * 6 * 16 / 20.0);
  small.set(CoefficientId::decode_kv_read_weight, 0);
  small.set(CoefficientId::decode_flop_weight, 1);
  // A token: projections 2 * 64 = 128, MLP 2 * 96 = 192, in tiles of 64 rows; attention 4 * 6 * 4 = 96.
  const double rows = std::hypot(12, 64);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(at(generation, 1)),
                   reads + 5 * (rows * (128 + 192) + 12 * 96) / 40.0);
  small.set(CoefficientId::decode_layer_overhead_s, 0.25);
  EXPECT_DOUBLE_EQ(terms::decode_layers_s(at(generation, 0)), 5 * 2 * 0.25);
  small.set(CoefficientId::decode_latency_weight, 1);
  // A step of stage 0: 2 all-reduces in each of 2 layers at 1 s and 0.3 for the second step, one transfer at 5
  // s.
  EXPECT_DOUBLE_EQ(terms::decode_latency_s(at(generation, 0)), 5 * (4 * 1.3 + 5));
}

TEST_F(Terms, DecodeSerializationFillsThePipeline) {
  small.set(CoefficientId::decode_serialization_weight, 1);
  ReplicaWork one_batch = generation.replicas[0];
  // One batch visits both stages in turn: 30 + 50 instead of 50.
  EXPECT_DOUBLE_EQ(terms::decode_serialization_s(small.problem, one_batch, {30, 50}), 30);
  one_batch.decode_batches = 2;  // two batches keep both stages busy: 80 / 2 < 50
  EXPECT_DOUBLE_EQ(terms::decode_serialization_s(small.problem, one_batch, {30, 50}), 0);
}

TEST_F(Terms, ReshardGathersTheModelInEveryReplica) {
  // 3 devices: 2 * 480 * 2/3 = 640 bytes; every ring of three crosses a-b.
  EXPECT_DOUBLE_EQ(terms::reshard_s(small.problem, training), 5 + 64);
}

TEST_F(Terms, SynchronizeGathersSendsAndBroadcasts) {
  const Plan apart = plan_with(on_device(3), uneven_pipeline(), uneven_pipeline());
  Case<> split(small_cluster(), small_workflow(), apart);
  const TaskWork from = split.work(kTraining), to = split.work(kGeneration);
  EXPECT_FALSE(terms::is_colocated(to, from));
  // Gather 69, nothing to broadcast on one device, 960 bytes from 2 to 3 beside it: 2 + 19.2.
  EXPECT_DOUBLE_EQ(terms::synchronize_s(split.problem, from, to), 69);
  EXPECT_DOUBLE_EQ(terms::weight_sync_s(split.problem, from, to), 69);
  Plan one_by_one = apart;
  one_by_one.weight_sync.method = WeightSyncMethod::per_replica;
  Case<> appendix(small_cluster(), small_workflow(), one_by_one);
  EXPECT_DOUBLE_EQ(terms::weight_sync_s(appendix.problem, appendix.work(kTraining), appendix.work(kGeneration)),
                   69 + 21.2);
}

TEST_F(Terms, BroadcastHasItsOwnVolume) {
  TaskPlan pair;
  pair.replicas = {{1.0, {stage(3, {2, 3})}}};
  Plan apart = plan_with(pair, on_device(0), on_device(0));
  apart.weight_sync.method = WeightSyncMethod::per_replica;
  Case<> split(small_cluster(), small_workflow(), apart);
  const TaskWork from = split.work(kTraining), to = split.work(kGeneration);
  // Gather on one device 0; broadcast of 960 * 1/2 bytes over b-b 2 + 9.6; transfer of 960 over a-b 5 + 96.
  EXPECT_DOUBLE_EQ(terms::synchronize_s(split.problem, from, to), 11.6 + 101);
}

TEST_F(Terms, VocabularyAddsHeadAndEmbedding) {
  Case<> worded(small_cluster(), small_workflow(Mode::synchronous, 10), same_everywhere(uneven_pipeline()));
  const TaskWork inferring = worded.work(kInference), decoding = worded.work(kGeneration),
                 trained = worded.work(kTraining);
  const StageOfTask<double> last{worded.problem, inferring, 0, 1};
  // Head: 2 * 8 tokens * 4 * 10 = 640 FLOP a sequence.
  EXPECT_DOUBLE_EQ(terms::compute_s(last), 12 * (kLayerFlop + 640) / 40);
  EXPECT_DOUBLE_EQ(terms::compute_s(StageOfTask<double>{worded.problem, decoding, 0, 1}),
                   12 * (kPrefillLayerFlop + 80) / 40);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(StageOfTask<double>{worded.problem, decoding, 0, 1}),
                   5 * 2 * (160 + 40) / 20.0);
  // The embedding's all-reduce on the first stage.
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(StageOfTask<double>{worded.problem, inferring, 0, 0}),
                   (2 * 2 + 1) * 4 * (1 + 1.92));
  EXPECT_DOUBLE_EQ((StageOfTask<double>{worded.problem, trained, 0, 0}).parameters(), 2 * 160 + 40);
  EXPECT_DOUBLE_EQ(terms::reshard_s(worded.problem, trained), 5 + 2 * (480 + 80) * 2.0 / 3 / 10);
}

TEST_F(Terms, OptimizerPassesOverItsState) {
  EXPECT_DOUBLE_EQ(terms::optimizer_s(at(training, 0)), 0);
  small.set(CoefficientId::optimizer_traffic_weight, 1);
  EXPECT_DOUBLE_EQ(terms::optimizer_s(at(training, 0)), 28 * 320 / (50 * 2.0));
}

TEST_F(Terms, Overheads) {
  small.set(CoefficientId::layer_overhead_s, 0.5);
  EXPECT_DOUBLE_EQ(terms::host_s(at(inference, 0)), 4 * 2 * 0.5);
  EXPECT_DOUBLE_EQ(terms::host_s(at(training, 0)), 3 * 4 * 2 * 0.5);
  small.set(CoefficientId::task_overhead_s, 7);
  small.set(CoefficientId::sequence_overhead_s, 0.125);
  small.set(CoefficientId::call_overhead_s, 3);
  EXPECT_DOUBLE_EQ(terms::task_overhead_s(small.problem, training, training.replicas[0], 0.0),
                   7 + 3 + 12 * 0.125);
}

TEST_F(Terms, ActivationTraffic) {
  small.set(CoefficientId::activation_traffic_weight, 1);
  // A token of a layer on TP 1: 8 * 4 + 4 * 8 + 4 * 12 = 112 elements of 2 bytes.
  EXPECT_DOUBLE_EQ(terms::traffic_s(at(inference, 1)), 12 * 8 * 112 * 2 / 20.0);
}

TEST_F(Terms, EfficienciesDivide) {
  const double neutral = terms::compute_s(at(inference, 0));
  small.set(CoefficientId::inference_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::compute_s(at(inference, 0)), 2 * neutral);
  small.set(CoefficientId::tensor_parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(inference, 0)), 2 * 4 * 2 * (1 + 192.0 / 50));
  small.set(CoefficientId::link_latency_scale, 3);
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_s(at(inference, 0)), 2 * 4 * 2 * (3 + 192.0 / 50));
}

}  // namespace
}  // namespace sextant::test
