// Reads, arithmetic and launches of a decoding step: terms/decode.h.
#include "costmodel/terms/decode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// The time that reading the cache adds.
double cache_reads_s(const StageOfTask<double>& s) {
  const terms::DecodeStep step = terms::decode_step(s);
  return s.work().decode_steps * s.problem.coefficient(decode_kv_read_weight, s.kinds().front()) *
         step.attention.bytes / s.problem.hardware.memory_bytes_per_s(s.kinds().front());
}

TEST(Decode, GraphsReplaceLaunches) {
  for (const bool graphs : {false, true}) {
    Execution execution;
    execution.cuda_graphs = graphs;
    TermCase generation(kGeneration, with(uneven_pipeline(), execution));
    generation.set(decode_layer_overhead_s, 0.25);
    generation.set(decode_graph_layer_overhead_s, 0.0625);
    generation.set(decode_step_overhead_s, 1);
    generation.set(decode_token_overhead_s, 0.125);
    // 5 steps, 2 layers, 60 tokens.
    EXPECT_DOUBLE_EQ(terms::decode_layers_s(generation.at(0)), 5 * 2 * (graphs ? 0.0625 : 0.25));
    EXPECT_DOUBLE_EQ(terms::decode_scheduling_s(generation.at(0)), 5 * 1 + 60 * 0.125);
  }
}

TEST(Decode, TheHostLaunchesBesideTheDevice) {
  TermCase generation(kGeneration, on_device(0));
  // Weights: 5 steps * 2 bytes * 480 / 50 = 96 s. Launches: 5 * 3 layers * 28 / 15 = 28 s.
  generation.set(decode_layer_overhead_s, 28.0 / 15);
  EXPECT_DOUBLE_EQ(terms::decode_s(generation.at()), 96 + 28);
  generation.set(decode_host_sharing, 0.5);
  EXPECT_DOUBLE_EQ(terms::decode_s(generation.at()), 100);  // 28, 96, 100
  generation.set(decode_step_overhead_s, 2);                // between steps: hidden by nothing
  EXPECT_DOUBLE_EQ(terms::decode_s(generation.at()), 100 + 5 * 2);
}

TEST(Decode, GraphsAreTimeOfTheDevice) {
  Execution execution;
  execution.cuda_graphs = true;
  TermCase generation(kGeneration, with(on_device(0), execution));
  generation.set(decode_graph_layer_overhead_s, 1);
  generation.set(decode_host_sharing, 0.5);
  EXPECT_DOUBLE_EQ(terms::decode_s(generation.at()), 96 + 5 * 3 * 1);
}

// 12 sequences live: 65.1 rows of a product with tiles of 64.
const double kRows = std::sqrt(12.0 * 12 + 64 * 64);

TEST(Decode, ArithmeticBesideReads) {
  TermCase generation(kGeneration, on_device(0));
  generation.set(decode_flop_weight, 1);
  generation.set(decode_kv_read_weight, 1);
  // A step: 3 layers of 160 parameters, 960 bytes at 50 B/s; attention 12 * 3 * 96 FLOP and 12 * 6 * 3 * 16
  // bytes.
  const double arithmetic = 2 * 480 * kRows / 100, reads = 960 / 50.0;
  const double attention = 12 * 3 * 96 / 100.0, cache = 12 * 6 * 3 * 16 / 50.0;
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(generation.at()), 5 * (arithmetic + reads + attention + cache));
  generation.set(roofline_sharing, 0.5);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(generation.at()),
                   5 * (std::hypot(arithmetic, reads) + std::hypot(attention, cache)));
}

TEST(Decode, FewRowsCostATile) {
  EXPECT_DOUBLE_EQ(terms::padded_rows(48, 64), 80);
  EXPECT_NEAR(terms::padded_rows(1, 64), 64, 0.01);
  EXPECT_NEAR(terms::padded_rows(1e4, 64), 1e4, 1);
  EXPECT_EQ(terms::padded_rows(3, terms::tile_rows(DeviceKind::cpu).product), 3);
  EXPECT_EQ(terms::tile_rows(DeviceKind::gpu).grouped, 16);
}

TEST(Decode, WeightsInEightBitsAreHalfTheReads) {
  Execution execution;
  execution.weight_precision = Precision::fp8;
  TermCase generation(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(generation.at()), 5 * 1 * 480 / 50.0);
  generation.set(decode_bandwidth_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(generation.at()), 5 * 1 * 480 / 25.0);
}

// In a layer, 64 attention, 36 shared and 16 router parameters are always read, 60 of every expert touched.
TEST(Decode, AStepReadsTheExpertsItsTokensTouch) {
  const auto reads_s = [](int places) {
    TaskPlan plan = on_device(0);
    plan.decode_batch_sequences = places;
    const TermCase generation(kGeneration, plan, with_model(small_mixture()));
    return terms::decode_kernels_s(generation.at());
  };
  // One token touches 2 of 4 experts, two 4 (1 - 1/4) = 3, twelve nearly all.
  EXPECT_DOUBLE_EQ(reads_s(1), 12 * 5 * 2 * 3 * (116 + 2 * 60) / 50.0);
  EXPECT_DOUBLE_EQ(reads_s(2), 6 * 5 * 2 * 3 * (116 + 3 * 60) / 50.0);
  EXPECT_DOUBLE_EQ(reads_s(12), 5 * 2 * 3 * (116 + 4 * (1 - std::pow(0.5, 12)) * 60) / 50);
}

TEST(Decode, NarrowShardsOfExpertsAreReadSlower) {
  const auto reads_s = [](double narrow, int tensor_parallel) {
    TaskPlan plan = on_device(0);
    if (tensor_parallel == 2) plan = plan_of({{stage(3, {0, 1})}});
    TermCase generation(kGeneration, plan, with_model(small_mixture()));
    generation.set(expert_narrow_columns, narrow);
    return terms::decode_kernels_s(generation.at());
  };
  const double touched = 4 * (1 - std::pow(0.5, 12));
  // 5 columns on one device: sqrt(1 + (12/5)^2) = 2.6; 2.5 on each of two: sqrt(1 + (6/2.5)^2).
  EXPECT_DOUBLE_EQ(reads_s(12, 1), 5 * 2 * 3 * (116 + 2.6 * touched * 60) / 50);
  EXPECT_DOUBLE_EQ(reads_s(6, 2), 5 * 2 * 3 * (116 + 2.6 * touched * 60) / 2 / 50);
}

TEST(Decode, ExpertRanksReadTheirOwn) {
  // Two replicas of one device are the two ranks: 6 sequences of each, 12 tokens over both.
  Execution execution;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const TermCase ranks(kGeneration, with(plan_of({{stage(3, {0})}, {stage(3, {1})}}), execution),
                       with_model(small_mixture()));
  const double touched = 4 * (1 - std::pow(0.5, 12));
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(ranks.at()), 5 * 2 * 3 * (116 + touched * 60 / 2) / 50);
}

TEST(Decode, RanksOfOneTensorParallelGroupShareItsTokens) {
  // The two devices of one replica are the two ranks: 12 tokens, not twice as many.
  Execution execution;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const TermCase ranks(kGeneration, with(plan_of({{stage(3, {0, 1})}}), execution),
                       with_model(small_mixture()));
  const double touched = 4 * (1 - std::pow(0.5, 12));
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(ranks.at()), 5 * 2 * 3 * (116 / 2.0 + touched * 60 / 2) / 50);
}

TEST(Decode, RoutedExpertsHaveTheirOwnFormatAndReads) {
  Execution execution;
  execution.expert_weight_precision = Precision::fp8;
  TermCase mixture(kGeneration, with(on_device(0), execution), with_model(small_mixture()));
  const double touched = 4 * (1 - std::pow(0.5, 12));
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(mixture.at()), 5 * 3 * (2 * 116 + touched * 60) / 50);
  mixture.set(expert_read_weight, 1.5);
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(mixture.at()), 5 * 3 * (2 * 116 + 1.5 * touched * 60) / 50);
  // Arithmetic: 12 tokens with 2 of 4 experts each, in tiles of 16 rows.
  mixture.set(decode_flop_weight, 1);
  const double rows = std::hypot(12 * 2 / touched, 16), attention = 12 * 96;
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(mixture.at()),
                   5 * 3 *
                       ((2 * 116 + 1.5 * touched * 60) / 50 +
                        (2 * 116 * kRows + 2 * touched * 60 * rows + attention) / 100));
}

TEST(Decode, ExpertTensorParallelismOfZeroIsThatOfTheStage) {
  // execution.h: TP 2 inside every expert, two ranks over two replicas: a device holds a quarter of the
  // experts.
  Execution execution;
  execution.expert_parallel = 2;
  const TermCase ranks(kGeneration, with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), execution),
                       with_model(small_mixture()), row_of_nodes(1, 4));
  const double touched = 4 * (1 - std::pow(0.5, 12));
  EXPECT_DOUBLE_EQ(terms::decode_kernels_s(ranks.at()), 5 * 2 * 3 * (116 / 2.0 + touched * 60 / 4) / 50);
}

TEST(Decode, LatentAttentionReadsItsCompressedVector) {
  Model model = small_model();
  model.latent_attention = LatentAttention{0, 2, 1};
  TermCase generation(kGeneration, uneven_pipeline(), with_model(model));
  generation.set(decode_kv_read_weight, 1);
  // 60 tokens that attend to 6 in the mean; 3 elements, whole on each of the two devices; 2 layers.
  EXPECT_DOUBLE_EQ(cache_reads_s(generation.at(0)), 60 * 6 * 2 * 3 * 2 / 50.0);
  EXPECT_DOUBLE_EQ(cache_reads_s(generation.at(1)), 60 * 6 * 1 * 3 * 2 / 20.0);
  // Its arithmetic is on that vector: 4 heads score 2 + 1 elements and weigh 2.
  EXPECT_DOUBLE_EQ(terms::decode_step(generation.at(1)).attention.flop, 12 * 2 * 6 * 4 * 5);
}

TEST(Decode, LinearAttentionReadsAndWritesItsState) {
  Model model = small_model();
  model.linear_attention = LinearAttention{1, 1, 2, 3, 5, 4};
  TermCase generation(kGeneration, uneven_pipeline(), with_model(model));
  generation.set(decode_kv_read_weight, 1);
  // One layer of three has a state: 2 * 5 * 3 numbers of 4 bytes, and 3 tokens of 2 * 3 + 10 numbers of 2 bytes.
  // The 12 sequences read and write it in each of 5 steps; the others attend to 6 tokens in the mean, 8 elements.
  const double state = (2 * 5 * 3 * 4 + 3 * 16 * 2) / 3.0, cache = 6 * 8 * 2 * 2 / 3.0;
  EXPECT_NEAR(cache_reads_s(generation.at(1)), 60 * (cache + 2 * state) / 20.0, 1e-9);
  EXPECT_NEAR(cache_reads_s(generation.at(0)), 60 * 2 * (cache + 2 * state) / 2 / 50.0, 1e-9);  // TP 2
  EXPECT_NEAR(terms::decode_step(generation.at(1)).attention.flop, 12 * 2 * 6 * (4 * 2 * 2) / 3.0, 1e-9);
}

TEST(Decode, ADeviceKeepsAtLeastOneKeyValueHead) {
  Model model = small_model();
  model.kv_heads = 1;
  TermCase generation(kGeneration, uneven_pipeline(), with_model(model));
  generation.set(decode_kv_read_weight, 1);
  EXPECT_DOUBLE_EQ(cache_reads_s(generation.at(0)),
                   60 * 6 * 2 * 2 * 2 / 50.0);  // TP 2 splits nothing
}

TEST(Decode, ReadsReachBackAsFarAsTheWindow) {
  Model model = small_model();
  model.sliding_window = 4;
  TermCase generation(kGeneration, uneven_pipeline(), with_model(model));
  generation.set(decode_kv_read_weight, 1);
  // Every context, 4 to 8 tokens long, fills the window.
  EXPECT_DOUBLE_EQ(cache_reads_s(generation.at(1)), 60 * 4 * 8 * 2 / 20.0);
}

TEST(Decode, CacheInEightBits) {
  Execution execution;
  execution.cache_precision = Precision::fp8;
  TermCase generation(kGeneration, with(uneven_pipeline(), execution));
  generation.set(decode_kv_read_weight, 1);
  EXPECT_DOUBLE_EQ(cache_reads_s(generation.at(1)), 60 * 6 * 8 * 1 / 20.0);
}

// Latency that one all-reduce of a step pays over four devices, whatever training's collectives take.
double all_reduce_latency_s(bool is_served, const Cluster& cluster) {
  Execution execution;
  execution.continuous_batching = is_served;
  TermCase generation(kGeneration, with(plan_of({{stage(3, {0, 1, 2, 3})}}), execution), small_workflow(),
                      cluster);
  generation.set(decode_latency_weight, 1);
  generation.set(collective_step_weight, 1);
  generation.set(link_latency_scale, 3);
  return terms::decode_latency_s(generation.at()) / (generation.work().decode_steps * 2 * 3);  // two a layer
}

TEST(Decode, ServingEnginesReduceInOneStepInsideANode) {
  EXPECT_DOUBLE_EQ(all_reduce_latency_s(true, row_of_nodes(1, 4)), 1);
  // The tree's four steps, those after the first at 0.3 of the latency; two between nodes and two inside.
  EXPECT_DOUBLE_EQ(all_reduce_latency_s(false, row_of_nodes(1, 4)), 1 + 3 * 0.3);
  EXPECT_DOUBLE_EQ(all_reduce_latency_s(true, row_of_nodes(2, 2)), 5 * (1 + 0.3) + 2 * 0.3);
}

TEST(Decode, CoresReduceStepByStepWhateverServes) {
  DeviceType core = device_type(100, 50);
  core.kind = DeviceKind::cpu;
  const Cluster row = row_of_nodes(1, 4);
  EXPECT_DOUBLE_EQ(all_reduce_latency_s(true, Cluster("row", {{"fast", core}}, row.nodes(), row.levels())),
                   1.9);
}

}  // namespace
}  // namespace sextant::test
