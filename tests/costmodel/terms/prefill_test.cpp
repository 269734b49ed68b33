// Prefill and what it shares with decoding: the roofline, the rate that is reached, the kernels of a layer.
#include "costmodel/terms/prefill.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/kernels.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

TaskPlan on_one(const Execution& execution = {}) {
  TaskPlan plan = plan_of({{stage(3, {0})}});
  plan.execution = execution;
  return plan;
}

TEST(Prefill, NeutralItIsTheForwardPass) {
  const TermCase generation(kGeneration, uneven_pipeline());
  for (const int j : {0, 1})
    EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at(j)), terms::compute_s(generation.at(j)));
}

TEST(Prefill, ProductsTakeTheLongerOfArithmeticAndTraffic) {
  TermCase generation(kGeneration, on_one());
  const double all = terms::prefill_s(generation.at());
  const double attention = 12 * 3 * (4.0 * 3 * 3 * 4) / 100;  // all pairs of 3 tokens
  generation.set(gemm_traffic_weight, 1);
  const double traffic = terms::gemm_traffic_bytes(generation.at()) / 50;
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), all + traffic);
  generation.set(roofline_sharing, 0.5);
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), std::hypot(all - attention, traffic) + attention);
  generation.set(prefill_attention_weight, 2);
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), std::hypot(all - attention, traffic) + 2 * attention);
}

TEST(Prefill, ItsEfficiencyIsOfItsArithmeticAlone) {
  // 12 sequences, 3 layers of 384 + 144 + 576 FLOP at 100 FLOP/s, of which a quarter is reached.
  TermCase generation(kGeneration, on_one()), inference(kInference, on_one());
  for (TermCase* each : {&generation, &inference}) each->set(prefill_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), 12 * 3 * 1104 / 25.0);
  generation.set(activation_traffic_weight, 1);  // a token of a layer moves 112 elements of 2 bytes at 50 B/s
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), 12 * 3 * 1104 / 25.0 + 12 * 3 * 3 * 112 * 2 / 50.0);
  EXPECT_DOUBLE_EQ(terms::compute_s(inference.at()), 12 * 3 * 3584 / 100.0);
}

TEST(Prefill, RoutedExpertsInTheirOwnPrecision) {
  Execution execution;
  execution.expert_precision = Precision::fp8;
  DeviceType type = device_type(100, 50);
  type.flop_per_s[Precision::fp8] = assumed(200);
  const Cluster row = row_of_nodes(1, 1);
  TermCase generation(kGeneration, on_one(execution), with_model(small_mixture()),
                      Cluster("row", {{"fast", type}}, row.nodes(), row.levels()));
  // A layer and sequence of 3 tokens: projections 384, shared expert and router 2 * 3 * 52, attention 144; two
  // experts a token 2 * 3 * 120.
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), 12 * 3 * ((384 + 312 + 144) / 100.0 + 720 / 200.0));
  generation.set(fp8_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::prefill_s(generation.at()), 12 * 3 * (384 + 312 + 144 + 720) / 100.0);
}

TEST(Prefill, FusedAttentionSkipsWhatTheMaskHides) {
  Execution execution;
  execution.fused_attention = true;
  const TermCase whole(kGeneration, on_one()), half(kGeneration, on_one(execution));
  EXPECT_DOUBLE_EQ(terms::computed_attention_flop(half.at()), 0.5 * terms::computed_attention_flop(whole.at()));
  // A window of one token leaves nothing to skip.
  Model model = small_model();
  model.sliding_window = 1;
  const TermCase window(kGeneration, on_one(execution), with_model(model));
  EXPECT_DOUBLE_EQ(terms::computed_attention_flop(window.at()), 12 * 3 * (4.0 * 3 * 1 * 4));
}

TEST(Prefill, TheShareOfTheRateFallsWithThePeak) {
  TermCase generation(kGeneration, on_one());
  generation.set(peak_rate_exponent, 0.5);
  // 100 FLOP/s are 3e12 times below the reference.
  EXPECT_DOUBLE_EQ(terms::reached_flop_per_s(generation.at(), DeviceId{0}, Precision::bf16),
                   100 * std::sqrt(3e12));
  const TermCase training(kTraining, on_one());
  EXPECT_DOUBLE_EQ(terms::compute_s(training.at()), terms::compute_s(TermCase(kTraining, on_one()).at()));
}

TEST(Kernels, OfALayer) {
  const auto kernels = [](const Model& model, const Execution& execution = {}) {
    return terms::layer_kernels(TermCase(kGeneration, on_one(execution), with_model(model)).task);
  };
  Execution eight;
  eight.weight_precision = Precision::fp8;
  Execution unfused = eight;
  unfused.unfused = true;
  Model latent = small_model();
  latent.latent_attention = LatentAttention{0, 2, 1};
  EXPECT_DOUBLE_EQ(kernels(small_model()), 1);
  EXPECT_DOUBLE_EQ(kernels(small_model(), eight), 13 / 11.0);
  EXPECT_DOUBLE_EQ(kernels(small_model(), unfused), 24 / 11.0);
  EXPECT_DOUBLE_EQ(kernels(small_mixture()), 23 / 11.0);
  EXPECT_DOUBLE_EQ(kernels(small_mixture(), unfused), (11 + 13 + 12 + 4 * 3) / 11.0);
  EXPECT_DOUBLE_EQ(kernels(latent), 17 / 11.0);
}

}  // namespace
}  // namespace sextant::test
