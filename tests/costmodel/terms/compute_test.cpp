// Arithmetic of the layers beyond HetRL B.2: precision, adapters, recomputation, real
// lengths, experts, windows.
#include "costmodel/terms/compute.h"

#include <gtest/gtest.h>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// Forward FLOP of a layer and a sequence of 8 tokens: projections 2 * 8 * 64, attention 2 * 2 * 64 * 4, MLP
// 2 * 8 * 96.
constexpr double kProjections = 1024, kAttention = 1024, kMlp = 1536;
constexpr double kTokens = 12 * 8;

Cluster cluster_with(Precision precision, double fast, double slow) {
  DeviceType a = device_type(100, 50), b = device_type(40, 20);
  a.flop_per_s[precision] = assumed(fast);
  b.flop_per_s[precision] = assumed(slow);
  const Cluster small = small_cluster();
  return Cluster("small", {{"fast", a}, {"slow", b}}, small.nodes(), small.levels());
}

TEST(Compute, EightAndFourBitsHaveTheirOwnRateAndShare) {
  Execution execution;
  execution.precision = Precision::fp8;
  TermCase eight(kInference, with(uneven_pipeline(), execution), small_workflow(),
                 cluster_with(Precision::fp8, 200, 80));
  // Attention stays in the 16 bits of the workflow: 100 FLOP/s.
  const double products = kProjections + kMlp;
  EXPECT_DOUBLE_EQ(terms::compute_s(eight.at(0)), 12 * 2 * (products / 200 + kAttention / 100.0) / 2);
  eight.set(fp8_efficiency, 0.5);
  eight.set(fp4_efficiency, 0.25);  // of the other format
  EXPECT_DOUBLE_EQ(terms::compute_s(eight.at(0)), 12 * 2 * (products / (0.5 * 200) + kAttention / 100.0) / 2);
  // Activations stay in 16 bits, weights are stored as the arithmetic reads them.
  EXPECT_EQ(eight.task.element_bytes, 2);
  EXPECT_EQ(eight.task.weight_bytes, 1);
  EXPECT_EQ(eight.task.cache_bytes, 2);

  execution.precision = Precision::fp4;
  TermCase four(kInference, with(uneven_pipeline(), execution), small_workflow(),
                cluster_with(Precision::fp4, 400, 160));
  four.set(fp4_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(terms::compute_s(four.at(1)), 12 * (products / (0.25 * 160) + kAttention / 40.0));
  EXPECT_EQ(four.task.weight_bytes, 0.5);
}

TEST(Compute, AttentionInThePrecisionThatAPlanGivesIt) {
  Execution execution;
  execution.attention_precision = Precision::fp8;
  const TermCase eight(kInference, with(uneven_pipeline(), execution), small_workflow(),
                       cluster_with(Precision::fp8, 200, 80));
  EXPECT_DOUBLE_EQ(terms::compute_s(eight.at(0)),
                   12 * 2 * ((kProjections + kMlp) / 100.0 + kAttention / 200.0) / 2);
}

TEST(Compute, FusedAttentionSkipsWhatTheMaskHides) {
  Execution execution;
  execution.fused_attention = true;
  TermCase fused(kTraining, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(terms::compute_s(fused.at(0)), 12 * 2 * 3 * (kProjections + kMlp + kAttention / 2) / 200);
  fused.set(portable_attention_weight, 3);  // of kernels that this plan does not have
  EXPECT_DOUBLE_EQ(terms::compute_s(fused.at(0)), 12 * 2 * 3 * (kProjections + kMlp + kAttention / 2) / 200);
  execution.portable_attention = true;
  TermCase portable(kTraining, with(uneven_pipeline(), execution));
  portable.set(portable_attention_weight, 3);
  EXPECT_DOUBLE_EQ(terms::compute_s(portable.at(0)),
                   12 * 2 * 3 * (kProjections + kMlp + 1.5 * kAttention) / 200);
}

TEST(Compute, PortableAttentionGainsNothingFromDevicesAfterHopper) {
  Execution execution;
  execution.portable_attention = true;
  const auto attention_s = [&execution](double flop_per_s) {
    Execution none = execution;
    none.attention_precision = Precision::fp8;
    const TermCase all(kInference, with(on_device(0), none), small_workflow(),
                       cluster_with(Precision::fp8, flop_per_s, flop_per_s));
    return terms::compute_s(all.at()) - 12 * 3 * (kProjections + kMlp) / 100.0;
  };
  constexpr double kHopper = 9.89e14, kRounding = 1e-12;  // of a difference of seconds
  EXPECT_NEAR(attention_s(2 * kHopper), attention_s(kHopper), kRounding);
  EXPECT_NEAR(attention_s(kHopper / 1e13) / attention_s(kHopper / 2e13), 0.5, kRounding);
}

TEST(Compute, SixteenBitsDoNotSeeTheSharesOfFewer) {
  TermCase sixteen(kInference, uneven_pipeline());
  sixteen.set(fp8_efficiency, 0.5);
  sixteen.set(fp4_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::compute_s(sixteen.at(0)), 430.08);
}

TEST(Compute, AttentionHasItsOwnWeight) {
  TermCase inference(kInference, uneven_pipeline());
  inference.set(attention_weight, 2);
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at(0)), 12 * 2 * (kProjections + kMlp + 2 * kAttention) / 200);
}

TEST(Compute, AdaptersNeedNoGradientsOfFrozenWeights) {
  Execution execution;
  execution.lora_rank = 2;
  TermCase training(kTraining, with(uneven_pipeline(), execution));
  // Projections and MLP twice (forward, and the gradient of the input), attention three times.
  EXPECT_DOUBLE_EQ(terms::compute_s(training.at(0)),
                   12 * 2 * (2 * (kProjections + kMlp) + 3 * kAttention) / 200);
}

TEST(Compute, RecomputationRepeatsWhatItSays) {
  TaskPlan selective = uneven_pipeline(), full = uneven_pipeline();
  selective.recompute = Recompute::selective;
  full.recompute = Recompute::full;
  TermCase attention_again(kTraining, selective), all_again(kTraining, full),
      none(kTraining, uneven_pipeline());
  // The appendix does not count it.
  EXPECT_DOUBLE_EQ(terms::compute_s(attention_again.at(0)), terms::compute_s(none.at(0)));
  EXPECT_DOUBLE_EQ(terms::compute_s(all_again.at(0)), terms::compute_s(none.at(0)));
  for (TermCase* each : {&attention_again, &all_again, &none}) each->set(recompute_flop_weight, 1);
  EXPECT_DOUBLE_EQ(terms::compute_s(none.at(0)), 12 * 2 * 3 * 3584.0 / 200);
  EXPECT_DOUBLE_EQ(terms::compute_s(attention_again.at(0)),
                   12 * 2 * (3 * (kProjections + kMlp) + 4 * kAttention) / 200);
  EXPECT_DOUBLE_EQ(terms::compute_s(all_again.at(0)), 12 * 2 * 4 * 3584.0 / 200);
}

TEST(Compute, PackedSequencesHaveTheirRealLength) {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  Execution packed;
  packed.packed = true;
  const TermCase padded(kInference, uneven_pipeline(), workflow);
  const TermCase real(kInference, with(uneven_pipeline(), packed), workflow);
  // Padded: 9 tokens; projections and MLP 2 * 9 * 160, attention 4 * 81 * 4.
  EXPECT_DOUBLE_EQ(terms::compute_s(padded.at(0)), 12 * 2 * (2880.0 + 1296) / 200);
  // Real: 5 or 9 tokens, 7 in the mean; attention (4 * 25 * 4 + 4 * 81 * 4) / 2 = 848.
  EXPECT_DOUBLE_EQ(terms::compute_s(real.at(0)), 12 * 2 * (2.0 * 7 * 160 + 848) / 200);
}

TEST(Compute, PackedPromptsOfThePrefill) {
  Workflow workflow = small_workflow();
  workflow.prompt_tokens = two_or_six();
  Execution packed;
  packed.packed = true;
  const TermCase real(kGeneration, with(uneven_pipeline(), packed), workflow);
  // 4 tokens in the mean; attention 4 * 20 * 4 by the mean square.
  EXPECT_DOUBLE_EQ(terms::compute_s(real.at(0)), 12 * 2 * (2.0 * 4 * 160 + 320) / 200);
}

TEST(Compute, SharedPromptsPassOnceAGroup) {
  Execution shared;
  shared.shared_prompts = true;
  const TermCase prefill(kGeneration, with(uneven_pipeline(), shared));
  EXPECT_EQ(prefill.work().prefill_sequences, 4);  // 12 sequences, 3 responses a prompt
  EXPECT_DOUBLE_EQ(terms::compute_s(prefill.at(0)), 4 * 2 * 1104.0 / 200);
}

TEST(Compute, ContextParallelPartsShareTheWork) {
  Execution execution;
  execution.context_parallel = 2;
  const TermCase split(kInference, with(plan_of({{stage(3, {0, 1})}}), execution));
  EXPECT_EQ(split.at().tensor_parallel(), 1);
  EXPECT_DOUBLE_EQ(terms::compute_s(split.at()), 12 * 3 * 3584.0 / (2 * 100));
}

TEST(Compute, SlidingWindow) {
  Model model = small_model();
  model.sliding_window = 4;
  const TermCase all(kInference, uneven_pipeline(), with_model(model));
  EXPECT_DOUBLE_EQ(terms::compute_s(all.at(1)), 12 * (kProjections + kMlp + kAttention / 2) / 40);
  model.sliding_window_layers = 2;  // of 3: 16/3 of 8 tokens in the mean
  const TermCase some(kInference, uneven_pipeline(), with_model(model));
  EXPECT_DOUBLE_EQ(terms::compute_s(some.at(1)), 12 * (kProjections + kMlp + kAttention * 2 / 3) / 40);
}

TEST(Compute, ADeviceReadsTheExpertsThatItHolds) {
  // Micro-batches of 24 tokens touch all four experts. Weights of a layer and micro-batch, in bytes: 64 of
  // attention and 52 beside the routed experts, 240 in them; those dealt over two devices are 120 each.
  const auto traffic = [](int ranks) {
    Execution execution;
    execution.expert_parallel = ranks;
    execution.expert_tensor_parallel = 1;
    const TermCase training(kTraining, with(plan_of({{stage(3, {0})}, {stage(3, {1})}}), execution),
                            with_model(small_mixture()));
    return terms::gemm_traffic_bytes(training.at());
  };
  EXPECT_NEAR(traffic(1) - traffic(2), 2.0 * 3 * 2 * 120, 1e-3);
}

TEST(Compute, RoutedExpertsHaveTheirOwnWeight) {
  TermCase inference(kInference, uneven_pipeline(), with_model(small_mixture()));
  // Active a token: 120 in routed experts, 36 + 16 in shared ones and the router.
  const double routed = 2 * 8 * 120, other = 2 * 8 * 52;
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at(1)), 12 * (kProjections + kAttention + routed + other) / 40);
  inference.set(expert_flop_weight, 2);
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at(1)),
                   12 * (kProjections + kAttention + 2 * routed + other) / 40);
}

TEST(Compute, RoutedExpertsInTheirOwnPrecision) {
  Execution execution;
  execution.expert_precision = Precision::fp8;
  TermCase inference(kInference, with(uneven_pipeline(), execution), with_model(small_mixture()),
                     cluster_with(Precision::fp8, 200, 160));
  const double routed = 2 * 8 * 120, other = 2 * 8 * 52;
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at(1)),
                   12 * ((kProjections + kAttention + other) / 40 + routed / 160));
  inference.set(fp8_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at(1)),
                   12 * ((kProjections + kAttention + other) / 40 + routed / 80));
  // Weights computed in eight bits are stored so, the others are not.
  EXPECT_EQ(inference.task.precision, Precision::bf16);
  EXPECT_EQ(inference.task.weight_bytes, 2);
  EXPECT_EQ(inference.task.expert_weight_bytes, 1);
}

TEST(Compute, DenseLayersBesideExperts) {
  Model model = small_mixture();
  model.experts->dense_layers = 1;
  TermCase inference(kInference, on_device(0), with_model(model));
  inference.set(expert_flop_weight, 2);
  // Over the three layers: two with experts, one with the dense MLP of 96.
  const double mlp = 2 * (2 * 8 * 120 * 2 + 2 * 8 * 52) + kMlp;
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at()), 12 * (3 * (kProjections + kAttention) + mlp) / 100);
}

}  // namespace
}  // namespace sextant::test
