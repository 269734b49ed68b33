// Memory under execution options: ZeRO, adapters, offloading, experts, contexts, caches, virtual stages, and
// the four coefficients. The bare layouts are in ../memory_test.cpp.
#include <gtest/gtest.h>

#include "costmodel/terms/memory.h"
#include "tests/costmodel/graph_case.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

StageMemory memory_of(const TermCase& task, int stage = 0) { return stage_memory(task.task, 0, stage); }

TEST(MemoryOptions, ZeroDividesStatesByTheReplicas) {
  // Bytes a parameter: weights 2, gradients 2, optimizer 12.
  const double bytes[] = {2 + 2 + 12, 2 + 2 + 6, 2 + 1 + 6, 1 + 1 + 6};
  for (int stage = 0; stage <= 3; ++stage) {
    Execution execution;
    execution.zero_stage = stage;
    const TermCase training(kTraining, with(two_fast(), execution));
    EXPECT_DOUBLE_EQ(memory_of(training).state_bytes, bytes[stage] * 480) << stage;
    const TermCase inference(kInference, with(two_fast(), execution));
    EXPECT_DOUBLE_EQ(memory_of(inference).state_bytes, (stage == 3 ? 1 : 2) * 480.0);
    const TermCase generation(kGeneration, with(two_fast(), execution));
    EXPECT_DOUBLE_EQ(memory_of(generation).state_bytes, 2 * 480.0);  // each replica needs all of them
  }
}

TEST(MemoryOptions, HybridShardingDividesStatesByTheGroup) {
  Execution execution;
  execution.zero_stage = 3;
  const auto four = [&] {
    return with(plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}}), execution);
  };
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, four())).state_bytes, 16 * 480 / 4.0);
  execution.sharded_over = 2;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, four())).state_bytes, 16 * 480 / 2.0);
}

TEST(MemoryOptions, ContextParallelPartsShareStatesAndTokens) {
  Execution execution;
  execution.context_parallel = 2;
  execution.zero_stage = 1;
  const TermCase training(kTraining, with(plan_of({{stage(3, {0, 1})}}), execution));
  EXPECT_DOUBLE_EQ(memory_of(training).state_bytes, (2 + 2 + 6) * 480);
  // Half of 24 tokens: 88 elements in each of 3 layers, and the embedding's output.
  EXPECT_DOUBLE_EQ(memory_of(training).activation_bytes, 2 * 12 * (3 * 88 + 4.0));
}

TEST(MemoryOptions, AdaptersTrainAlone) {
  Execution execution;
  execution.lora_rank = 2;
  const TermCase training(kTraining, with(on_device(0), execution));
  // 408 parameters of adapters (data_parallel_test.cpp) with all their states, and the frozen weights.
  EXPECT_DOUBLE_EQ(memory_of(training).state_bytes, 2 * 480 + 16 * 408);
}

TEST(MemoryOptions, OffloadingMovesStatesToTheHost) {
  Execution execution;
  execution.offload_optimizer = true;
  const StageMemory optimizer = memory_of(TermCase(kTraining, with(on_device(0), execution)));
  EXPECT_DOUBLE_EQ(optimizer.state_bytes, 4 * 480);
  // Its state, gradients in fp32 and the new weights.
  EXPECT_DOUBLE_EQ(optimizer.host_bytes, (12 + 4 + 2) * 480);
  EXPECT_EQ(optimizer.loaded_bytes, 0);
  execution.offload_weights = true;
  const StageMemory both = memory_of(TermCase(kTraining, with(on_device(0), execution)));
  EXPECT_EQ(both.state_bytes, 0);
  EXPECT_DOUBLE_EQ(both.host_bytes, (2 + 12 + 4 + 2) * 480);  // gradients are dropped
  EXPECT_DOUBLE_EQ(both.loaded_bytes, 4 * 480);
  execution.offload_optimizer = false;
  const StageMemory weights = memory_of(TermCase(kTraining, with(on_device(0), execution)));
  EXPECT_EQ(weights.state_bytes, 0);
  EXPECT_DOUBLE_EQ(weights.loaded_bytes, 16 * 480);
  EXPECT_DOUBLE_EQ(weights.moved_bytes, 14 * 480);
  execution.offload_gradients = true;
  const StageMemory all = memory_of(TermCase(kTraining, with(on_device(0), execution)));
  EXPECT_DOUBLE_EQ(all.host_bytes, 16 * 480);
  EXPECT_DOUBLE_EQ(all.loaded_bytes, 16 * 480);
  EXPECT_DOUBLE_EQ(all.moved_bytes, 16 * 480);
}

TEST(MemoryOptions, OffloadedActivationsLeaveOneLayerBehind) {
  Execution execution;
  execution.offload_activations = true;
  const TermCase training(kTraining, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(memory_of(training).activation_bytes, 2 * 24 * (88 + 4.0));
  EXPECT_DOUBLE_EQ(micro_batch_activation_bytes(training.task, 0, 0), 2 * 24 * 3 * 88.0);
  execution.offload_activation_layers = 2;  // of 3: one stays, and one of the others passes
  const TermCase some(kTraining, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(memory_of(some).activation_bytes, 2 * 24 * (88 + 88 + 4.0));
}

TEST(MemoryOptions, OffloadedActivationsOfOneMicroBatchAreOnTheirWay) {
  // Two stages, the first with two micro-batches in flight: of its two layers (16 whole, 72 / 2 split) one
  // passes; the embedding's outputs stay.
  Execution execution;
  execution.offload_activations = true;
  const TermCase training(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(memory_of(training).activation_bytes, 2 * 24 * (16 + 36 + 2 * 4.0));
}

TEST(MemoryOptions, TheLargestMicroBatchCounts) {
  // 12 sequences in micro-batches of 5, 5 and 2: not of 4 each.
  TaskPlan plan = on_device(0);
  plan.micro_batch_sequences = 5;
  const Workflow worded = small_workflow(Mode::synchronous, 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan, worded)).activation_bytes, 2 * 5 * 8 * (3 * 88 + 4.0));
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, plan, worded)).layer_bytes, 2 * 5 * 8 * 88.0);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan, worded)).logit_bytes, 16 * 5 * 8 * 10);
  // So too with a budget of 43 tokens; two micro-batches are dealt evenly.
  plan.execution.micro_batch_tokens = 43;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan)).activation_bytes, 2 * 43 * (3 * 88 + 4.0));
  plan.execution.micro_batch_tokens = 0;
  plan.execution.micro_batches = 5;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan)).activation_bytes, 2 * 3 * 8 * (3 * 88 + 4.0));
  plan.execution.micro_batches = 0;
  // Never more than there are: three in flight hold 12 sequences and not 15.
  plan.replicas = {{1.0, {stage(1, {0}), stage(1, {1}), stage(1, {2})}}};
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan)).activation_bytes, 2 * 12 * 8 * (88 + 4.0));
}

TEST(MemoryOptions, ExpertsAreDealtOverTheirRanks) {
  // 3 layers: 240 parameters of routed experts and 116 others each.
  Execution execution;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const Workflow mixture = with_model(small_mixture());
  const TermCase split(kInference, with(two_fast(), execution), mixture);
  EXPECT_DOUBLE_EQ(held_parameters(split.task, 0, 0), 3 * (116 + 240 / 2.0));
  EXPECT_DOUBLE_EQ(memory_of(split).state_bytes, 2 * 3 * (116 + 240 / 2.0));
  const TermCase whole(kInference, two_fast(), mixture);
  EXPECT_DOUBLE_EQ(held_parameters(whole.task, 0, 0), 3 * 356);
  // TP 2 and experts whole on their ranks; then as the stage, TP 2 inside an expert.
  const TaskPlan pair = plan_of({{stage(3, {0, 1})}});
  const TermCase ranks(kInference, with(pair, execution), mixture);
  EXPECT_DOUBLE_EQ(held_parameters(ranks.task, 0, 0), 3 * (116 / 2.0 + 240 / 2.0));
  // Whole experts that are not dealt: each rank of the stage holds all of them.
  execution.expert_parallel = 1;
  const TermCase all(kInference, with(pair, execution), mixture);
  EXPECT_DOUBLE_EQ(held_parameters(all.task, 0, 0), 3 * (116 / 2.0 + 240));
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 0;
  const TermCase inside(kInference, with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), execution),
                        mixture);
  EXPECT_DOUBLE_EQ(held_parameters(inside.task, 0, 0), 3 * (116 / 2.0 + 240 / 4.0));
}

TEST(MemoryOptions, SequencesOfAMiniBatchAreWhole) {
  // Six sequences a replica in eight steps: one in some and none in others.
  Workflow workflow = small_workflow();
  workflow.mini_batches = 8;
  const TaskPlan plan = two_fast();
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan, workflow)).activation_bytes, 2 * 1 * 8 * (3 * 88 + 4.0));
}

TEST(MemoryOptions, ZeroDividesExpertsByTheirCopies) {
  // Four replicas, experts over two of them: two copies of each. 3 layers of 116 others and 240 / 2.
  Execution execution;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const TaskPlan four = plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}});
  const Workflow mixture = with_model(small_mixture());
  const double shared = 3 * 116, experts = 3 * 120;
  const double copies[] = {1, 1, 1, 4}, expert_copies[] = {1, 1, 1, 2};
  for (int stage = 1; stage <= 3; ++stage) {
    execution.zero_stage = stage;
    const TermCase training(kTraining, with(four, execution), mixture);
    const double gradients = stage >= 2 ? 2 * (shared / 4 + experts / 2) : 2 * (shared + experts);
    EXPECT_DOUBLE_EQ(memory_of(training).state_bytes,
                     2 * (shared / copies[stage] + experts / expert_copies[stage]) + gradients +
                         12 * (shared / 4 + experts / 2))
        << stage;
  }
  // All devices together hold the model: no less than its weights once.
  const TermCase inference(kInference, with(four, execution), mixture);
  EXPECT_DOUBLE_EQ(4 * memory_of(inference).state_bytes, 2 * 3 * 356);
}

TEST(MemoryOptions, ExpertsTrainInTheirOwnFormat) {
  Execution execution;
  execution.expert_weight_precision = Precision::fp32;  // 4 + 4 + 8 bytes, and 2 + 2 + 12 of the others
  const TermCase training(kTraining, with(on_device(0), execution), with_model(small_mixture()));
  EXPECT_DOUBLE_EQ(memory_of(training).state_bytes, 3 * (116 * 16.0 + 240 * 16.0));
  execution.expert_weight_precision = Precision::fp8;  // 1 + 1 + 12
  const TermCase narrow(kTraining, with(on_device(0), execution), with_model(small_mixture()));
  EXPECT_DOUBLE_EQ(memory_of(narrow).state_bytes, 3 * (116 * 16.0 + 240 * 14.0));
}

TEST(MemoryOptions, AdaptersAreShardedLikeWeights) {
  Execution execution;
  execution.lora_rank = 2;
  execution.zero_stage = 3;
  const TermCase training(kTraining, with(two_fast(), execution));
  EXPECT_DOUBLE_EQ(memory_of(training).state_bytes, (2 * 480 + 16 * 408) / 2.0);
}

TEST(MemoryOptions, KeptActivationsOfExperts) {
  const TermCase training(kTraining, on_device(0), with_model(small_mixture()));
  // 4 * 4 + 16 + scores 32 + three matrices of 2 * 5 + 3 columns + four copies of 4 for each of 2 experts.
  EXPECT_DOUBLE_EQ(memory_of(training).activation_bytes, 2 * 24 * (3 * (16 + 16 + 32 + 39 + 32) + 4.0));
  Execution execution;
  execution.fused_experts = true;  // two copies
  const TermCase fused(kTraining, with(on_device(0), execution), with_model(small_mixture()));
  EXPECT_DOUBLE_EQ(memory_of(fused).activation_bytes, 2 * 24 * (3 * (16 + 16 + 32 + 39 + 16) + 4.0));
}

TEST(MemoryOptions, FusedAttentionAndSelectiveRecomputationKeepNoScores) {
  Execution execution;
  execution.fused_attention = true;
  const TermCase fused(kTraining, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(memory_of(fused).activation_bytes, 2 * 24 * (3 * (88 - 32) + 4.0));
  TaskPlan selective = on_device(0);
  selective.recompute = Recompute::selective;
  const TermCase recomputed(kTraining, selective);
  EXPECT_DOUBLE_EQ(memory_of(recomputed).activation_bytes, 2 * 24 * (3 * (88 - 32) + 4.0));
}

TEST(MemoryOptions, SequenceParallelismSplitsWhatIsHidden) {
  // TP 2, two layers, two micro-batches in flight: 4 * 4 whole or halved, 72 / 2 split; the embedding's output.
  const TermCase whole(kTraining, uneven_pipeline());
  EXPECT_DOUBLE_EQ(memory_of(whole).activation_bytes, 2 * 24 * 2 * (2 * (16 + 36) + 4.0));
  Execution execution;
  execution.sequence_parallel = true;
  const TermCase split(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(memory_of(split).activation_bytes, 2 * 24 * 2 * (2 * (8 + 36) + 2.0));
}

TEST(MemoryOptions, VirtualStagesKeepMoreMicroBatches) {
  // Two stages: 2 in flight on the first, with 2 chunks (1 + 1 / (2 * 2)) times as many.
  Execution execution;
  execution.virtual_stages = 2;
  const TermCase training(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(memory_of(training).activation_bytes, 2 * 24 * 2.5 * (2 * (16 + 36) + 4.0));
  // Never more than there are.
  execution.micro_batches = 2;
  const TermCase few(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(memory_of(few).activation_bytes, 2 * 48 * 2 * (2 * (16 + 36) + 4.0));
}

TEST(MemoryOptions, LaterVirtualStagesRunAheadToo) {
  // Two stages of two chunks: the last one passes two micro-batches through its first chunk before the second
  // chunk of the first one lets it begin backward: 3 of 2 chunks.
  TaskPlan plan = plan_of({{stage(2, {0}), stage(2, {1})}});
  plan.execution.virtual_stages = 2;
  Model model = small_model();
  model.layers = 4;
  const TermCase training(kTraining, plan, with_model(model));
  EXPECT_DOUBLE_EQ(memory_of(training, 1).activation_bytes, 2 * 24 * 1.5 * 2 * 88.0);
}

TEST(MemoryOptions, CacheOfLatentAttentionIsWholeOnEveryDevice) {
  Model model = small_model();
  model.latent_attention = LatentAttention{0, 2, 1};
  const TermCase one(kGeneration, on_device(0), with_model(model));
  EXPECT_DOUBLE_EQ(memory_of(one).activation_bytes, 12 * 8 * 3 * 3 * 2);
  const TermCase two(kGeneration, plan_of({{stage(3, {0, 1})}}), with_model(model));
  EXPECT_DOUBLE_EQ(memory_of(two).activation_bytes, 12 * 8 * 3 * 3 * 2);  // as decode.h reads it
}

TEST(MemoryOptions, ADeviceKeepsAtLeastOneKeyValueHead) {
  Model model = small_model();
  model.kv_heads = 1;
  const TermCase two(kGeneration, plan_of({{stage(3, {0, 1})}}), with_model(model));
  EXPECT_DOUBLE_EQ(memory_of(two).activation_bytes, 12 * 8 * 3 * 2 * 2);
}

// 12 sequences of 8 tokens in 3 layers of 8 elements need 12 * 8 * 3 * 8 * 2 = 4608 bytes.
TEST(MemoryOptions, ACacheOfStatedSizeIsAllocatedWhole) {
  Execution execution;
  for (const double stated : {1000.0, 1e6}) {
    execution.kv_cache_bytes = stated;
    const TermCase reserved(kGeneration, with(on_device(0), execution));
    EXPECT_EQ(memory_of(reserved).reserved_bytes, stated);
    EXPECT_EQ(memory_of(reserved).activation_bytes, 0);
  }
  execution.kv_cache_bytes = 0;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kGeneration, with(on_device(0), execution))).activation_bytes, 4608);
  execution.cache_precision = Precision::fp8;
  const TermCase eight(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(memory_of(eight).activation_bytes, 12 * 8 * 3 * 8 * 1);
}

// 24 tokens of one micro-batch, 12 sequences that decode together, a vocabulary of 10.
TEST(MemoryOptions, LogitsOfOneMicroBatch) {
  const Workflow worded = small_workflow(Mode::synchronous, 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, uneven_pipeline(), worded), 0).logit_bytes, 0);
  // bf16 logits, fp32 copy, log-softmax, its gradient, bf16 gradient: 2 + 4 + 4 + 4 + 2.
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, uneven_pipeline(), worded), 1).logit_bytes, 16 * 24 * 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, plan_of({{stage(3, {0, 1})}}), worded)).logit_bytes,
                   16 * 24 * 5);
  // Without the gradients 2 + 4 + 4.
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, on_device(0), worded)).logit_bytes, 10 * 24 * 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kGeneration, on_device(0), worded)).logit_bytes, 10 * 12 * 10);
  Workflow exact = worded;
  exact.precision = Precision::fp32;  // logits, log-softmax, its gradient
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, on_device(0), exact)).logit_bytes, 12 * 24 * 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, on_device(0), exact)).logit_bytes, 8 * 24 * 10);
}

TEST(MemoryOptions, ChunkedAndFusedLossesHoldFewerLogits) {
  const Workflow worded = small_workflow(Mode::synchronous, 10);
  Execution execution;
  execution.logit_chunk_tokens = 5;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(on_device(0), execution), worded)).logit_bytes,
                   16 * 5 * 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, with(on_device(0), execution), worded)).logit_bytes,
                   10 * 5 * 10);
  execution.logit_chunk_tokens = 100;  // more than a micro-batch has
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(on_device(0), execution), worded)).logit_bytes,
                   16 * 24 * 10);
  execution.logit_chunk_tokens = 0;
  execution.fused_loss = true;  // logits and their gradient in bf16
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(on_device(0), execution), worded)).logit_bytes,
                   4 * 24 * 10);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, with(on_device(0), execution), worded)).logit_bytes,
                   2 * 24 * 10);
}

TEST(MemoryOptions, OptimizersKeepTheFormatsOfThePlan) {
  const auto state_bytes = [](const Execution& execution) {
    return memory_of(TermCase(kTraining, with(on_device(0), execution))).state_bytes / 480;
  };
  Execution megatron;
  megatron.main_gradient_precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(state_bytes(megatron), 2 + 4 + 8 + 4);
  Execution bf16_adam;
  bf16_adam.moment_precision = Precision::bf16;
  bf16_adam.master_weights = false;
  EXPECT_DOUBLE_EQ(state_bytes(bf16_adam), 2 + 2 + 4);
  Execution eight_bit;
  eight_bit.moment_precision = Precision::fp8;
  EXPECT_DOUBLE_EQ(state_bytes(eight_bit), 2 + 2 + 2 + 4);
}

TEST(MemoryOptions, ShardedWeightsAreWholeWhereALayerRuns) {
  const Workflow worded = small_workflow(Mode::synchronous, 10);
  Execution execution;
  execution.zero_stage = 3;
  const StageMemory training = memory_of(TermCase(kTraining, with(two_fast(), execution), worded));
  // A layer has 160 weights: itself and the next one in bf16, its gradient in bf16 twice; the head has 40.
  EXPECT_DOUBLE_EQ(training.gathered_layer_bytes, (2 * 2 + 2 + 2) * 160);
  EXPECT_DOUBLE_EQ(training.gathered_head_bytes, 2 * 40);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kInference, with(two_fast(), execution), worded)).gathered_layer_bytes,
                   2 * 2 * 160);
  const StageMemory engine = memory_of(TermCase(kGeneration, with(two_fast(), execution), worded));
  EXPECT_EQ(engine.gathered_layer_bytes, 0);
  // Embedding and head are gathered alone: 100 * 4 weights beat a layer.
  const Workflow wide = small_workflow(Mode::synchronous, 100);
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(two_fast(), execution), wide)).gathered_layer_bytes,
                   (2 + 2 + 2) * 400);
  // So is the larger one, if a stage has one of them only.
  const TaskPlan staged = plan_of({{stage(2, {0}), stage(1, {1})}, {stage(2, {2}), stage(1, {3})}});
  for (const int at : {0, 1})
    EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(staged, execution), wide), at).gathered_layer_bytes,
                     (2 + 2 + 2) * 400);
  execution.gradient_precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(two_fast(), execution), worded)).gathered_layer_bytes,
                   (2 * 2 + 2 + 4) * 160);
  execution.lora_rank = 2;  // frozen weights have no gradient
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(two_fast(), execution), worded)).gathered_layer_bytes,
                   2 * 2 * 160);
  execution.lora_rank = 0;
  // One replica has nothing to gather, but casts weights that it stores in fp32.
  EXPECT_EQ(memory_of(TermCase(kTraining, with(on_device(0), execution), worded)).gathered_layer_bytes, 0);
  execution.weight_precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(memory_of(TermCase(kTraining, with(on_device(0), execution), worded)).gathered_layer_bytes,
                   (2 * 2 + 2 + 4) * 160);
}

// The loss is over before the backward pass begins.
TEST(MemoryOptions, LossAndLayerDoNotMeet) {
  const TermCase training(kTraining, on_device(0), small_workflow(Mode::synchronous, 10));
  const StageMemory counted = memory_of(training);
  EXPECT_LT(counted.logit_bytes, counted.layer_bytes);
  const auto memory = plan_memory(std::vector<TaskWork>{training.task}, training.problem().cluster(),
                                  CoefficientValues<double>(2), training.problem().hardware);
  EXPECT_DOUBLE_EQ(memory[0].working_bytes, counted.activation_bytes + counted.layer_bytes);
  const TermCase wide(kTraining, on_device(0), small_workflow(Mode::synchronous, 100));
  const auto more = plan_memory(std::vector<TaskWork>{wide.task}, wide.problem().cluster(),
                                CoefficientValues<double>(2), wide.problem().hardware);
  EXPECT_DOUBLE_EQ(more[0].working_bytes, counted.activation_bytes + 16 * 24 * 100);
}

TEST(MemoryOptions, CoefficientsMakeItWhatAFrameworkTakes) {
  const TermCase training(kTraining, on_device(0), small_workflow(Mode::synchronous, 10));
  const StageMemory counted = memory_of(training);
  CoefficientValues<double> values(2);
  for (int type = 0; type < 2; ++type) {
    values.set(memory_state_weight, type, 1.5);
    values.set(memory_activation_weight, type, 2);
    values.set(memory_logit_weight, type, 3);
    values.set(memory_context_bytes, type, 100);
  }
  const Hardware<double>& hardware = training.problem().hardware;
  const auto memory =
      plan_memory(std::vector<TaskWork>{training.task}, training.problem().cluster(), values, hardware);
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_DOUBLE_EQ(memory[0].resident_bytes, 100 + 1.5 * 16 * (480 + 80));
  EXPECT_DOUBLE_EQ(memory[0].working_bytes,
                   2 * counted.activation_bytes + std::max(3 * counted.logit_bytes, 2 * counted.layer_bytes));
  EXPECT_GT(3 * counted.logit_bytes, 2 * counted.layer_bytes);
}

// Per token and layer of Qwen3-14B in bf16, worked out by hand from the modules of Transformers: two norms keep their input
// in fp32, the normalised values and the output (8 h bytes each), attention its q, k, v and output, and the MLP gate,
// activated gate, up and product (8 f bytes). Fused kernels keep 4 h bytes a norm and 6 f bytes.
TEST(MemoryOptions, EagerLayersKeepWhatEachOperationNeeds) {
  constexpr double kHidden = 5120, kQueries = 5120, kKeys = 1024, kInner = 17408;
  Workflow workflow = small_workflow(Mode::synchronous, 10);
  workflow.precision = Precision::bf16;
  for (auto& [name, model] : workflow.models) {
    model.hidden = static_cast<int>(kHidden);
    model.heads = 40;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.intermediate = static_cast<int>(kInner);
    model.gated_mlp = true;
  }
  TaskPlan plan = on_device(0);
  plan.execution.fused_attention = true;
  const double fused = memory_of(TermCase(kTraining, plan, workflow)).activation_bytes;
  plan.execution.eager_layers = true;
  const TermCase eager(kTraining, plan, workflow);
  const double embedding = 2 * kHidden, attention = 2 * (2 * kQueries + 2 * kKeys);
  const double layers = eager.task.model->layers;
  EXPECT_NEAR(memory_of(eager).activation_bytes / fused,
              (layers * (2 * 8 * kHidden + attention + 8 * kInner) + embedding) /
                  (layers * (2 * 4 * kHidden + attention + 6 * kInner) + embedding),
              1e-12);
}

TEST(MemoryOptions, ContextIsHeldOncePerDevice) {
  const TermCase training(kTraining, on_device(0));
  CoefficientValues<double> values(2);
  for (int type = 0; type < 2; ++type) values.set(memory_context_bytes, type, 100);
  const auto memory = plan_memory(std::vector<TaskWork>{training.task, training.task},
                                  training.problem().cluster(), values, training.problem().hardware);
  EXPECT_DOUBLE_EQ(memory[0].resident_bytes, 100 + 2 * 16 * 480);
}

// Engine and trainer share device 0. States: 2 * 480 bytes of the engine's weights, 16 * 480 of training. The
// working set of training is 2 * 24 * (3 * 88 + 4 + 88) bytes for 24 tokens. The engine reserves 40000 bytes.
struct SharedDevice {
  Workflow workflow = small_workflow();
  TermCase training{kTraining, on_device(0), workflow};
  [[nodiscard]] DeviceMemory with(const Execution& engine, int device = 0) const {
    const TermCase generation(kGeneration, test::with(on_device(device), engine), workflow);
    return plan_memory(std::vector<TaskWork>{training.task, generation.task}, training.problem().cluster(),
                       training.problem().coefficients, training.problem().hardware)
        .front();
  }
  double training_bytes = 2 * 24 * (3 * 88 + 4 + 88.0);
};

Execution engine_of(double reserved_bytes, bool sleeps) {
  Execution execution;
  execution.kv_cache_bytes = reserved_bytes;
  execution.offload_weights = sleeps;
  return execution;
}

TEST(MemoryOptions, TheCacheOfAnEngineThatStaysCountsWhileTrainingRuns) {
  const SharedDevice device;
  const DeviceMemory memory = device.with(engine_of(40000, false));
  EXPECT_DOUBLE_EQ(memory.resident_bytes, 18 * 480 + 40000);
  EXPECT_DOUBLE_EQ(memory.working_bytes, device.training_bytes);
}

TEST(MemoryOptions, AnEngineThatSleepsTakesWeightsAndCacheAway) {
  const SharedDevice device;
  // Awake it holds weights and cache, 40960 bytes: more than training's working set.
  const DeviceMemory memory = device.with(engine_of(40000, true));
  EXPECT_DOUBLE_EQ(memory.resident_bytes, 16 * 480);
  EXPECT_DOUBLE_EQ(memory.working_bytes, 2 * 480 + 40000);
  // With a smaller cache training's is the larger one, and nothing of the engine is left beside it.
  EXPECT_DOUBLE_EQ(device.with(engine_of(1000, true)).working_bytes, device.training_bytes);
}

TEST(MemoryOptions, AnEngineOnItsOwnDeviceHoldsWeightsAndCacheEitherWay) {
  for (const bool sleeps : {false, true}) {
    const TermCase generation(kGeneration, with(on_device(1), engine_of(40000, sleeps)));
    const auto memory = plan_memory(std::vector<TaskWork>{generation.task}, generation.problem().cluster(),
                                    generation.problem().coefficients, generation.problem().hardware);
    ASSERT_EQ(memory.size(), 1U);
    EXPECT_DOUBLE_EQ(memory[0].resident_bytes + memory[0].working_bytes, 2 * 480 + 40000) << sleeps;
  }
  // Nor does it take anything from the trainer's device.
  const SharedDevice device;
  const DeviceMemory trainer = device.with(engine_of(40000, false), 1);
  EXPECT_DOUBLE_EQ(trainer.resident_bytes, 16 * 480);
  EXPECT_DOUBLE_EQ(trainer.working_bytes, device.training_bytes);
}

// The reservation is a number of bytes: a coefficient for activations does not change it.
TEST(MemoryOptions, NoCoefficientAppliesToAReservation) {
  const TermCase generation(kGeneration, with(on_device(0), engine_of(40000, false)));
  CoefficientValues<double> values(2);
  for (int type = 0; type < 2; ++type) values.set(memory_activation_weight, type, 3);
  const auto memory = plan_memory(std::vector<TaskWork>{generation.task}, generation.problem().cluster(),
                                  values, generation.problem().hardware);
  EXPECT_DOUBLE_EQ(memory[0].resident_bytes + memory[0].working_bytes, 2 * 480 + 40000);
}

TEST(MemoryOptions, ALargerReservationNeverTakesLess) {
  const SharedDevice device;
  for (const bool sleeps : {false, true}) {
    double before = 0;
    for (const double reserved : {1.0, 384.0, 1000.0, 4608.0, 5000.0, 4e4, 2e5, 2e11}) {
      const DeviceMemory memory = device.with(engine_of(reserved, sleeps));
      const double needed = memory.resident_bytes + memory.working_bytes;
      EXPECT_GE(needed, before) << reserved;
      EXPECT_GE(needed, reserved);
      before = needed;
    }
  }
}

TEST(MemoryOptions, HostsSumWhatTheirDevicesOffload) {
  Execution execution;
  execution.offload_weights = true;
  const TermCase training(kTraining, with(uneven_pipeline(), execution));
  const auto hosts = host_memory(std::vector<TaskWork>{training.task}, training.problem().cluster());
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].node, "a");
  // Two devices with a half of two layers each: weights and optimizer.
  EXPECT_DOUBLE_EQ(hosts[0].needed_bytes, kPinnedShare * 2 * 14 * 160);
  EXPECT_DOUBLE_EQ(hosts[1].needed_bytes, kPinnedShare * 14 * 160);
  EXPECT_TRUE(hosts[0].fits());  // the cluster does not say how much there is
  const HostMemory full{"a", 100.0, 101.0}, enough{"a", 101.0, 101.0};
  EXPECT_FALSE(full.fits());
  EXPECT_TRUE(enough.fits());
}

// verl's old_log_prob loads the actor's weights, from the copy that its training has. The reference has its own.
TEST(MemoryOptions, APassOnTheTrainersEngineHasNoCopyOfItsOwn) {
  const Workflow workflow = with_graph(grpo_tasks(false, {true, true}));
  Plan plan = all_on(workflow, 0);
  for (auto& [name, task] : plan.tasks) task.execution.offload_weights = true;
  const Cluster cluster = small_cluster();
  const auto needed = [&] {
    return host_memory(works_of(workflow, plan, cluster), cluster).front().needed_bytes / (kPinnedShare * 480);
  };
  const double engine = 2, training = 14, reference = 2, copy = 2;
  EXPECT_DOUBLE_EQ(needed(), engine + training + reference);
  TaskPlan& pass = plan.tasks.at(task_names::kOldLogProb);
  pass.replicas = on_device(1).replicas;  // on the same node
  EXPECT_DOUBLE_EQ(needed(), engine + training + reference + copy);
  pass.replicas = on_device(0).replicas;
  plan.tasks.at(kTraining).execution.offload_weights = false;  // they stay on the device
  EXPECT_DOUBLE_EQ(needed(), engine + reference);
}

TEST(MemoryOptions, APassOnTheTrainersEngineFindsItsWeightsOnTheDevice) {
  const Workflow workflow = with_graph(grpo_tasks(false, {true, true}));
  Plan plan = all_on(workflow, 0);
  const Cluster cluster = small_cluster();
  const auto memory = [&](std::size_t device) { return plan_memory(workflow, plan, cluster).at(device); };
  const double engine = 2, training = 16, reference = 2, copy = 2;
  EXPECT_DOUBLE_EQ(memory(0).resident_bytes, (engine + training + reference) * 480);
  TaskPlan& pass = plan.tasks.at(task_names::kOldLogProb);
  pass.replicas = on_device(1).replicas;
  EXPECT_DOUBLE_EQ(memory(0).resident_bytes, (engine + training + reference) * 480);
  EXPECT_DOUBLE_EQ(memory(1).resident_bytes, copy * 480);
  const double alone = memory(1).working_bytes;
  pass.execution.offload_weights = true;
  EXPECT_DOUBLE_EQ(memory(1).working_bytes, alone + copy * 480);
  // Training moves them to the host: the pass loads them.
  pass.replicas = on_device(0).replicas;
  plan.tasks.at(kTraining).execution.offload_weights = true;
  EXPECT_DOUBLE_EQ(memory(0).resident_bytes, (engine + reference) * 480);
}

// Each task of the device alone, in the words of an interval: what is certain, and what is predicted.
TEST(MemoryOptions, NeedsOfTasksCountTheWeightsOfATrainersEngineOnce) {
  const Workflow workflow = with_graph(grpo_tasks(false, {true, true}));
  const Plan plan = all_on(workflow, 0);
  const Cluster cluster = small_cluster();
  const Hardware<double> hardware(cluster);
  const CoefficientValues<double> neutral(hardware.type_count());
  const auto needs = memory_needs(works_of(workflow, plan, cluster), neutral, hardware);
  double largest = 0;
  for (const MemoryNeed& need : needs.at(DeviceId{0}))
    largest = std::max(largest, need.reserved_bytes + need.predicted_bytes);
  const DeviceMemory whole = plan_memory(workflow, plan, cluster).front();
  EXPECT_DOUBLE_EQ(largest, whole.resident_bytes + whole.working_bytes);
}

TEST(MemoryOptions, EnginesThatTakeTurnsKeepACopyOnTheHost) {
  Execution execution;
  execution.offload_weights = true;
  const TermCase training(kTraining, with(on_device(0), execution));
  const TermCase together(kGeneration, on_device(0)), apart(kGeneration, on_device(1));
  const Cluster& cluster = training.problem().cluster();
  const auto needed = [&cluster](const std::vector<TaskWork>& works) {
    return host_memory(works, cluster).front().needed_bytes;
  };
  EXPECT_DOUBLE_EQ(needed({training.task, together.task}), kPinnedShare * (14 + 2) * 480);
  EXPECT_DOUBLE_EQ(needed({training.task, apart.task}), kPinnedShare * 14 * 480);
  EXPECT_TRUE(host_memory(std::vector<TaskWork>{together.task}, cluster).empty());
  // The cache holds nothing that is worth a copy.
  const TermCase reserves(kGeneration, with(on_device(0), engine_of(40000, false)));
  EXPECT_DOUBLE_EQ(needed({training.task, reserves.task}), kPinnedShare * (14 + 2) * 480);
}

}  // namespace
}  // namespace sextant::test
