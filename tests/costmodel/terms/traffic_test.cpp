// Memory traffic beside the arithmetic: of GEMMs, scores, logits and element-wise passes.
#include "costmodel/terms/traffic.h"

#include <gtest/gtest.h>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

constexpr double kBatchTokens = 12 * 8;

TEST(Traffic, GemmsReadWeightsOncePerPassAndMoveTheirRows) {
  TermCase inference(kInference, uneven_pipeline());
  inference.set(gemm_traffic_weight, 1);
  // A row: in and out of query-key-value 4 + 12/2, output 4/2 + 4, up and gate 4 + 16/2, down 8/2 + 4.
  const double row = (4 + 6) + (2 + 4) + (4 + 8) + (4 + 4);
  EXPECT_DOUBLE_EQ(terms::gemm_traffic_bytes(inference.at(0)), 2 * (2 * 80 * 4 + 2 * row * kBatchTokens));
  EXPECT_DOUBLE_EQ(terms::traffic_s(inference.at(0)), 2 * (2 * 80 * 4 + 2 * row * kBatchTokens) / 50);
  TermCase training(kTraining, uneven_pipeline());
  training.set(gemm_traffic_weight, 0.5);
  EXPECT_DOUBLE_EQ(terms::traffic_s(training.at(0)), 3 * 0.5 * 2 * (2 * 80 * 4 + 2 * row * kBatchTokens) / 50);
}

TEST(Traffic, GemmsWithoutGateHaveTwoMatrices) {
  Model model = small_model();
  model.gated_mlp = false;
  const TermCase inference(kInference, uneven_pipeline(), with_model(model));
  const double row = (4 + 12) + (4 + 4) + (4 + 8) + (8 + 4);  // TP 1
  EXPECT_DOUBLE_EQ(terms::gemm_traffic_bytes(inference.at(1)), 2.0 * 128 * 4 + 2 * row * kBatchTokens);
}

TEST(Traffic, OfEightBitWeights) {
  Execution execution;
  execution.weight_precision = Precision::fp8;
  const TermCase inference(kInference, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(terms::gemm_traffic_bytes(inference.at(0)), 2 * (1 * 80 * 4 + 2 * 36 * kBatchTokens));
}

TEST(Traffic, ChunkedPrefillReadsWeightsOnceAChunk) {
  Execution execution;
  execution.prefill_chunk_tokens = 9;  // 36 tokens of prompts in 4 chunks, as before
  const TermCase four(kGeneration, with(uneven_pipeline(), execution));
  EXPECT_EQ(four.work().prefill_passes, 4);
  execution.prefill_chunk_tokens = 100;
  const TermCase one(kGeneration, with(uneven_pipeline(), execution));
  EXPECT_EQ(one.work().prefill_passes, 1);
  EXPECT_DOUBLE_EQ(terms::gemm_traffic_bytes(four.at(0)) - terms::gemm_traffic_bytes(one.at(0)),
                   2 * 2 * 80 * 3.0);
}

TEST(Traffic, ScoresWhereAttentionIsNotFused) {
  TermCase inference(kInference, uneven_pipeline());
  inference.set(score_traffic_weight, 1);
  // One layer on TP 1: 96 rows of 8 scores for 4 heads, in 2 bytes. Two layers on TP 2.
  EXPECT_DOUBLE_EQ(terms::traffic_s(inference.at(1)), 96 * 8 * 4 * 2 / 20.0);
  EXPECT_DOUBLE_EQ(terms::traffic_s(inference.at(0)), 2 * 96 * 8 * 2 * 2 / 50.0);
  Execution execution;
  execution.fused_attention = true;
  TermCase fused(kInference, with(uneven_pipeline(), execution));
  fused.set(score_traffic_weight, 1);
  EXPECT_EQ(terms::traffic_s(fused.at(1)), 0);
}

TEST(Traffic, SelectiveRecomputationRepeatsScores) {
  TaskPlan plan = uneven_pipeline();
  plan.recompute = Recompute::selective;
  TermCase training(kTraining, plan);
  training.set(score_traffic_weight, 1);
  training.set(recompute_flop_weight, 1);
  EXPECT_DOUBLE_EQ(terms::traffic_s(training.at(1)), 4 * 96 * 8 * 4 * 2 / 20.0);
}

TEST(Traffic, LogitsOfTheLastStage) {
  const Workflow worded = small_workflow(Mode::synchronous, 10);
  TermCase inference(kInference, uneven_pipeline(), worded), training(kTraining, uneven_pipeline(), worded),
      generation(kGeneration, uneven_pipeline(), worded);
  for (TermCase* each : {&inference, &training, &generation}) each->set(logit_traffic_weight, 1);
  EXPECT_EQ(terms::traffic_s(inference.at(0)), 0);
  EXPECT_DOUBLE_EQ(terms::traffic_s(inference.at(1)), 96 * 10 * 2 / 20.0);
  EXPECT_DOUBLE_EQ(terms::traffic_s(training.at(1)), 3 * 96 * 10 * 2 / 20.0);
  EXPECT_EQ(terms::traffic_s(generation.at(1)), 0);  // of the last position only
  Model scorer = small_model(10);
  scorer.value_head = true;
  TermCase value(kInference, uneven_pipeline(), with_model(scorer));
  value.set(logit_traffic_weight, 1);
  EXPECT_EQ(terms::traffic_s(value.at(1)), 0);
}

TEST(Traffic, SequenceParallelismSplitsWhatIsWhole) {
  // Whole 8 * 4 elements, split 4 * 8 + 4 * 12.
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_model(), 1, {}), 112);
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_model(), 2, {}), 32 + 40);
  Execution split;
  split.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_model(), 2, split), 56);
}

TEST(Traffic, ExpertsTakeACopyOfTheirTokens) {
  // Two copies of 4 elements written and read on both ways; an MLP of 2 * 5 + 3 columns.
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_mixture(), 1, {}), 32 + 32 + 4 * 13 + 4 * 12);
  Execution sorted;  // one copy each, and of the 2 * 5 columns the result alone
  sorted.fused_dispatch = true;
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_mixture(), 1, sorted), 32 + 16 + 4 * 13 + 4 * 12);
  sorted.fused_experts = true;
  EXPECT_DOUBLE_EQ(terms::activation_elements(small_mixture(), 1, sorted), 32 + 16 + 4 * 3 + 10 + 4 * 12);
}

}  // namespace
}  // namespace sextant::test
