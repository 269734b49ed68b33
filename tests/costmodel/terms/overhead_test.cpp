// Fixed times of the host, what of them shows beside the device, and the waiting of multi-turn rollouts.
#include "costmodel/terms/overhead.h"

#include <gtest/gtest.h>

#include "costmodel/task.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

TEST(Overhead, LayersMicroBatchesAndCollectives) {
  TermCase inference(kInference, uneven_pipeline()), training(kTraining, uneven_pipeline());
  for (TermCase* each : {&inference, &training}) {
    each->set(layer_overhead_s, 0.5);
    each->set(micro_batch_overhead_s, 0.25);
    each->set(collective_overhead_s, 0.125);
  }
  // 4 micro-batches, 2 layers; 2 all-reduces a layer forward, 4 forward and backward. Three passes in training.
  EXPECT_DOUBLE_EQ(terms::host_s(inference.at(0)), 4 * (2 * 0.5 + 0.25) + 4 * 2 * 2 * 0.125);
  EXPECT_DOUBLE_EQ(terms::host_s(training.at(0)), 4 * (3 * 2 * 0.5 + 0.25) + 4 * 2 * 4 * 0.125);
  EXPECT_DOUBLE_EQ(terms::host_s(inference.at(1)), 4 * (0.5 + 0.25));  // TP 1: no collectives
}

// In launches of a dense layer's 11.
double kernels_with(const Execution& execution, const Model& model = small_mixture()) {
  return 11 *
         terms::training_kernels(TermCase(kTraining, with(on_device(0), execution), with_model(model)).task);
}

TEST(Overhead, LayersWithExpertsLaunchMoreKernels) {
  EXPECT_DOUBLE_EQ(kernels_with({}, small_model()), 11);
  EXPECT_DOUBLE_EQ(kernels_with({}), 11 + 12);
  Model model = small_mixture();
  model.experts->dense_layers = 1;  // of 3
  EXPECT_NEAR(kernels_with({}, model), 11 + 12 * 2 / 3.0, 1e-12);
  Execution execution;
  execution.semantics = "megatron";  // two products of each of four experts
  EXPECT_DOUBLE_EQ(kernels_with(execution), 11 + 12 + 6);
  execution.fused_experts = true;
  EXPECT_DOUBLE_EQ(kernels_with(execution), 11 + 12);
  execution = {};
  execution.unfused = true;
  EXPECT_DOUBLE_EQ(kernels_with(execution), 11 + 12 + 4 * 6);
}

TEST(Overhead, GraphsLeaveLessToLaunch) {
  Execution execution;
  execution.training_graphs = TrainingGraphs::routing;
  EXPECT_DOUBLE_EQ(kernels_with(execution), 11 + 2);
  execution.training_graphs = TrainingGraphs::attention;
  EXPECT_DOUBLE_EQ(kernels_with(execution), 5.5 + 2);
  execution.training_graphs = TrainingGraphs::iteration;
  EXPECT_EQ(kernels_with(execution), 0);
  TermCase training(kTraining, with(uneven_pipeline(), execution)),
      inference(kInference, with(uneven_pipeline(), execution));
  for (TermCase* each : {&training, &inference}) {
    each->set(layer_overhead_s, 0.5);
    each->set(micro_batch_overhead_s, 0.25);
    each->set(collective_overhead_s, 0.125);
  }
  EXPECT_EQ(terms::host_s(training.at(0)), 0);
  EXPECT_DOUBLE_EQ(terms::host_s(inference.at(1)), 4 * (0.5 + 0.25));  // graphs are of training
}

TEST(Overhead, PrefillPaysPerChunk) {
  Execution execution;
  execution.prefill_chunk_tokens = 18;  // 2 chunks of 36 tokens
  TermCase generation(kGeneration, with(on_device(0), execution));
  generation.set(layer_overhead_s, 0.5);
  EXPECT_DOUBLE_EQ(terms::host_s(generation.at()), 2 * 3 * 0.5);
}

TEST(Overhead, TheHostWorksBesideTheDeviceButNotBesideLatency) {
  TermCase inference(kInference, uneven_pipeline());
  inference.set(layer_overhead_s, 0.875);  // 4 * 2 * 0.875 = 7 s
  // 16 all-reduces of 1 s latency: of 40 s the device is busy for 24.
  EXPECT_DOUBLE_EQ(terms::tensor_parallel_latency_s(inference.at(0)), 16);
  EXPECT_DOUBLE_EQ(terms::host_overhead_s(inference.at(0), 40.0), 7);
  inference.set(host_sharing, 0.5);  // sqrt(7^2 + 24^2) = 25
  EXPECT_DOUBLE_EQ(terms::host_overhead_s(inference.at(0), 40.0), 1);
}

TEST(Overhead, ALongDeviceHidesTheHostAndAShortOneShowsIt) {
  TermCase inference(kInference, on_device(0));
  inference.set(layer_overhead_s, 1);  // 4 * 3 s
  inference.set(host_sharing, 0.9);
  EXPECT_NEAR(terms::host_overhead_s(inference.at(), 1e4), 0, 1e-6);
  EXPECT_NEAR(terms::host_overhead_s(inference.at(), 1e-6), 12, 1e-5);
}

TEST(Overhead, AHostWithoutWorkCostsNothing) {
  const TermCase inference(kInference, uneven_pipeline());
  EXPECT_EQ(terms::host_overhead_s(inference.at(0), 40.0), 0);
}

TEST(Overhead, SequencesWaitForTheirToolsBetweenTurns) {
  Workflow workflow = small_workflow();
  workflow.turns = 3.5;
  workflow.environment_s_per_turn = 2;
  Execution keeping;  // a prefix cache: nothing passes the layers again
  keeping.shared_prompts = true;
  TermCase tools(kGeneration, with(uneven_pipeline(), keeping), workflow);
  TermCase none(kGeneration, with(uneven_pipeline(), keeping));
  EXPECT_DOUBLE_EQ(terms::task_overhead_s(tools.problem(), tools.task, tools.work(), 0.0), 2.5 * 2);
  EXPECT_DOUBLE_EQ(task_cost(tools.problem(), tools.task).time_s - task_cost(none.problem(), none.task).time_s,
                   2.5 * 2);
  for (const char* other : {kInference, kTraining}) {
    const TermCase task(other, uneven_pipeline(), workflow);
    EXPECT_EQ(terms::task_overhead_s(task.problem(), task.task, task.work(), 0.0), 0);
  }
}

}  // namespace
}  // namespace sextant::test
