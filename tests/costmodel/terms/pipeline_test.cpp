// Transfers between stages beyond the appendix: rendezvous, virtual stages, split activations, fixed times.
#include "costmodel/terms/pipeline_parallel.h"

#include <gtest/gtest.h>

#include "costmodel/terms/bubble.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// 2 bytes * 3 sequences * 8 tokens * 4 = 192 over a-b; 4 micro-batches.
constexpr double kTransfer = 5 + 19.2;

TEST(Pipeline, ABlockedStageWaitsForTheTransferBeforeItToo) {
  TermCase inference(kInference, uneven_pipeline()), training(kTraining, uneven_pipeline());
  EXPECT_EQ(terms::pipeline_parallel_s(inference.at(1)), 0);
  for (TermCase* each : {&inference, &training}) each->set(pipeline_rendezvous_weight, 0.5);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * kTransfer);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(1)), 4 * 0.5 * kTransfer);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(training.at(1)), 2 * 4 * 0.5 * kTransfer);
}

TEST(Pipeline, AStageInTheMiddleHasTwoEdges) {
  TermCase inference(kInference, plan_of({{stage(1, {0}), stage(1, {1}), stage(1, {2})}}));
  inference.set(pipeline_rendezvous_weight, 1);
  const double near = 1 + 1.92;
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * near);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(1)), 4 * (near + kTransfer));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(2)), 4 * kTransfer);
}

TEST(Pipeline, AMicroBatchCrossesOnceAVirtualStage) {
  Execution execution;
  execution.virtual_stages = 2;
  TaskPlan plan = plan_of({{stage(2, {0, 1}), stage(2, {2})}});
  Model model = small_model();
  model.layers = 4;
  TermCase inference(kInference, with(plan, execution), with_model(model));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * 2 * kTransfer);
  // From the last stage back to the first, once less.
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(1)), 4 * 1 * kTransfer);
  inference.set(pipeline_rendezvous_weight, 0.5);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(1)), 4 * (1 + 2 * 0.5) * kTransfer);
}

TEST(Pipeline, TheBubbleOfVirtualStagesIsAShareOfIt) {
  Execution execution;
  execution.virtual_stages = 2;
  TermCase training(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(terms::bubble_s(training.problem(), training.task, training.work(), {1000, 300, 100}),
                   (300.0 + 100.0) / (4 * 2));
}

TEST(Pipeline, PrefillFillsThePipelineOnceAChunk) {
  Execution execution;
  execution.prefill_chunk_tokens = 18;  // 36 tokens of prompts in 2 chunks
  TermCase generation(kGeneration, with(uneven_pipeline(), execution));
  generation.set(pipeline_fill_weight, 1);
  EXPECT_DOUBLE_EQ(terms::bubble_s(generation.problem(), generation.task, generation.work(), {300, 100}),
                   100 / 2.0);
}

TEST(Pipeline, SplitActivationsAreSmaller) {
  Execution sequence;
  sequence.sequence_parallel = true;
  const TermCase split(kInference, with(uneven_pipeline(), sequence));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(split.at(0)), 4 * (5 + 9.6));  // TP 2
  Execution contexts;
  contexts.context_parallel = 2;
  const TermCase parts(kInference, with(plan_of({{stage(2, {0, 1}), stage(1, {2, 3})}}), contexts));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(parts.at(0)), 4 * (5 + 9.6));
}

TEST(Pipeline, AScatteredTransferGoesInParts) {
  Execution execution;
  execution.semantics = "megatron";
  const TaskPlan pairs = with(plan_of({{stage(2, {0, 1}), stage(1, {2, 3})}}), execution);
  // Half of the 192 bytes from each device of the pair, and the other half from its neighbour behind it.
  const TermCase own(kInference, pairs, small_workflow(), row_of_nodes(2, 2));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(own.at(0)), 4 * (5 + 9.6 + 1 + 0.96));
  // Both leave the node at once: 7.5 B/s for each.
  const TermCase shared(kInference, pairs, small_workflow(), row_of_nodes(2, 2, 15));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(shared.at(0)), 4 * (5 + 12.8 + 1 + 0.96));
  // One device has nobody to share with.
  const TermCase single(kInference, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(single.at(0)), 4 * kTransfer);
}

TEST(Pipeline, EfficiencyAndFixedTimes) {
  TermCase inference(kInference, uneven_pipeline());
  inference.set(pipeline_parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * (5 + 38.4));
  inference.set(pipeline_transfer_overhead_s, 0.25);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * (5 + 38.4 + 0.25));
  inference.set(network_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::pipeline_parallel_s(inference.at(0)), 4 * (5 + 76.8 + 0.25));
}

TEST(Pipeline, FrameworksCutMicroBatchesTheirWay) {
  // ReaL: 2 micro-batches of training become 2 * 2 * PP pipeline micro-batches, of inference 2 * PP.
  Execution execution;
  execution.micro_batches = 2;
  execution.semantics = "real";
  const TermCase training(kTraining, with(uneven_pipeline(), execution)),
      inference(kInference, with(uneven_pipeline(), execution));
  EXPECT_EQ(training.work().micro_batches, 8);
  EXPECT_EQ(training.work().micro_batch_sequences, 1.5);
  EXPECT_EQ(inference.work().micro_batches, 4);
  execution.semantics = "plain";
  const TermCase plain(kTraining, with(uneven_pipeline(), execution));
  EXPECT_EQ(plain.work().micro_batches, 2);
}

TEST(Pipeline, MicroBatchesOfATokenBudget) {
  Execution execution;
  execution.micro_batch_tokens = 20;  // 12 * 8 = 96 tokens in 5
  const TermCase padded(kTraining, with(uneven_pipeline(), execution));
  EXPECT_EQ(padded.work().micro_batches, 5);
  execution.packed = true;
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();  // 12 * 7 = 84 tokens
  const TermCase packed(kTraining, with(uneven_pipeline(), execution), workflow);
  EXPECT_EQ(packed.work().micro_batches, 5);
  execution.context_parallel = 2;  // 42 a device
  const TermCase parts(kTraining, with(plan_of({{stage(3, {0, 1})}}), execution), workflow);
  EXPECT_EQ(parts.work().micro_batches, 3);
  execution.semantics = "nemo-rl";  // bins of whole sequences, then split: 84 tokens in bins of 20
  const TermCase bins(kTraining, with(plan_of({{stage(3, {0, 1})}}), execution), workflow);
  EXPECT_EQ(bins.work().micro_batches, 5);
}

}  // namespace
}  // namespace sextant::test
