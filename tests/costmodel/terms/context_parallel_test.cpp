// The ring of keys and values: HetRL has none, the formula is that of terms/context_parallel.h.
#include "costmodel/terms/context_parallel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/compute.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

Execution contexts(int degree) {
  Execution execution;
  execution.context_parallel = degree;
  return execution;
}

TEST(ContextParallel, NothingWithoutIt) {
  const TermCase one(kTraining, plan_of({{stage(3, {0, 1})}}));
  EXPECT_EQ(terms::context_parallel_s(one.at(), 1.0), 0);
}

TEST(ContextParallel, PassesKeysAndValuesOnceALayer) {
  // 2 bytes * 3 sequences * 8 tokens / 2 parts * 8 elements = 192 bytes over a-a; 4 micro-batches, 3 layers.
  const TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), contexts(2)));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(inference.at(), 0.0), 4 * 3 * (1 + 1.92));
  const TermCase training(kTraining, with(plan_of({{stage(3, {0, 1})}}), contexts(2)));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(training.at(), 0.0), 3 * 4 * 3 * (1 + 1.92));
}

TEST(ContextParallel, OfEveryTensorParallelGroupOneDevice) {
  // TP 2 x CP 2: the first of each group, 0 and 2, pass half of the heads over a-b.
  const TermCase inference(kInference, with(plan_of({{stage(3, {0, 1, 2, 3})}}), contexts(2)));
  EXPECT_EQ(terms::context_group(inference.at()), device_ids({0, 2}));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(inference.at(), 0.0), 4 * 3 * (5 + 96 / 10.0));
}

TEST(ContextParallel, GoesAroundTheWholeGroup) {
  // Four parts in one node: three steps, each a quarter of the tokens.
  const TermCase four(kInference, with(plan_of({{stage(3, {0, 1, 2, 3})}}), contexts(4)), small_workflow(),
                      row_of_nodes(1, 4));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(four.at(), 0.0), 4 * 3 * 3 * (1 + 96 / 100.0));
}

TEST(ContextParallel, EfficiencyAndOverlap) {
  TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), contexts(2)));
  inference.set(context_parallel_efficiency, 0.5);
  const double moved = 4 * 3 * (1 + 3.84);
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(inference.at(), 0.0), moved);
  inference.set(context_parallel_overlap, 0.75);
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(inference.at(), moved), moved * (1 - 0.75 * std::pow(2, -0.25)));
  EXPECT_NEAR(terms::context_parallel_s(inference.at(), 1e6), 0.25 * moved, 1e-9);  // attention hides the share
}

TEST(ContextParallel, PrefillPassesThePromptOnly) {
  const TermCase prefill(kGeneration, with(plan_of({{stage(3, {0, 1})}}), contexts(2)));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(prefill.at(), 0.0), 4 * 3 * (1 + 2 * 3 * 3 / 2.0 * 8 / 100));
}

TEST(ContextParallel, LatentAttentionPassesItsCompressedVector) {
  Model model = small_model();
  model.latent_attention = LatentAttention{0, 2, 1};  // 3 elements a token in place of 8
  const TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), contexts(2)), with_model(model));
  EXPECT_DOUBLE_EQ(terms::context_parallel_s(inference.at(), 0.0), 4 * 3 * (1 + 72 / 100.0));
}

}  // namespace
}  // namespace sextant::test
