// Decoding beyond one wave of full-length responses: how many steps, how many sequences live in them, what the
// KV cache holds, and what a step reads and launches.
#include "costmodel/terms/decode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::testing {
namespace {

using enum CoefficientId;

// What reading the cache adds.
double cache_reads_s(const StageOfTask<double>& s) {
  const terms::DecodeStep step = terms::decode_step(s);
  return s.work().decode_steps * s.problem.coefficient(decode_kv_read_weight, s.kinds().front()) *
         step.attention.bytes / s.problem.hardware.memory_bytes_per_s(s.kinds().front());
}

// 12 sequences with 3 tokens of prompt and 2 or 6 of response, decoded in 4 places.
Workflow uneven_responses() {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  return workflow;
}

TaskPlan four_places(const Execution& execution = {}) {
  TaskPlan plan = with(on_device(0), execution);
  plan.decode_batch_sequences = 4;
  return plan;
}

Execution stopping() {
  Execution execution;
  execution.packed = true;
  return execution;
}

Execution refilling() {
  Execution execution;
  execution.continuous_batching = true;
  return execution;
}

TEST(Decode, WithoutStopsEveryWaveTakesTheLongest) {
  const TermCase full(kGeneration, four_places(), uneven_responses());
  EXPECT_EQ(full.work().decode_waves, 3);
  EXPECT_EQ(full.work().decode_steps, 3 * 6);
  EXPECT_EQ(full.work().live_sequences(), 4);
}

TEST(Decode, AWaveEndsWithItsLongestResponse) {
  const TermCase stopped(kGeneration, four_places(stopping()), uneven_responses());
  // All four are short once in 16: 2 / 16 + 6 * 15 / 16.
  EXPECT_DOUBLE_EQ(stopped.work().decode_steps, 3 * 5.75);
  EXPECT_DOUBLE_EQ(stopped.work().decode_tokens, 12 * 4);
  EXPECT_DOUBLE_EQ(stopped.work().live_sequences(), 48 / 17.25);
  // A short response attends to 4 + 5 tokens, a long one to 4 + ... + 9 = 39: 24 in the mean.
  EXPECT_DOUBLE_EQ(stopped.work().decode_context_tokens, 12 * 24);
}

TEST(Decode, EndedResponsesMakePlace) {
  const TermCase continuous(kGeneration, four_places(refilling()), uneven_responses());
  // 8 more sequences of 4 tokens in 4 places, then the longest of the last four.
  EXPECT_DOUBLE_EQ(continuous.work().decode_steps, 8 * 4 / 4.0 + 5.75);
  EXPECT_DOUBLE_EQ(continuous.work().live_sequences(), 48 / 13.75);
}

TEST(Decode, AllAtOnceTakesTheLongestOfAll) {
  TaskPlan plan = four_places(refilling());
  plan.decode_batch_sequences = 0;
  const TermCase once(kGeneration, plan, uneven_responses());
  EXPECT_DOUBLE_EQ(once.work().decode_steps, 6 - 4 * std::pow(0.5, 12));
}

TEST(Decode, CachedTokensAreThoseThatLive) {
  // Refilled one by one a place holds its prompt and 20 / (2 * 4) of a response in the mean.
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, four_places(refilling()), uneven_responses()).work().cached_tokens,
                   4 * (3 + 2.5));
  // All at once: before the short ones end 3 + 2 each, later half of them 3 + 6.
  TaskPlan together = with(on_device(0), refilling());
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, together, uneven_responses()).work().cached_tokens, 12 * 5);
  // Three responses share a prompt: 1 + 2 each, later half of 1 + 6.
  together.execution.shared_prompts = true;
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, together, uneven_responses()).work().cached_tokens, 12 * 3.5);
  // Without stops all are as long as the longest.
  EXPECT_DOUBLE_EQ(TermCase(kGeneration, four_places(), uneven_responses()).work().cached_tokens, 4 * 9);
}

// Three turns whose tools return 4 tokens each time.
Workflow with_tools() {
  Workflow workflow = small_workflow();
  workflow.turns = 3;
  workflow.observation_tokens_per_turn = 4;
  return workflow;
}

TEST(Decode, TurnsPassWhatTheToolsReturned) {
  // 12 sequences of 3 + 5 tokens; what comes back twice is 4 tokens, or without a prefix cache all before it:
  // 3 + 1 (5/3 + 4) and 3 + 2 (5/3 + 4).
  const TermCase again(kGeneration, on_device(0), with_tools());
  EXPECT_DOUBLE_EQ(again.work().prefill_sequences * 3, 12 * (3 + 23));
  Execution execution;
  execution.shared_prompts = true;
  const TermCase kept(kGeneration, with(on_device(0), execution), with_tools());
  EXPECT_DOUBLE_EQ(kept.work().prefill_sequences * 3, 12 * (1 + 8));
  // Half of the 8 are there in the mean; all at the end.
  const TermCase alone(kGeneration, on_device(0));
  EXPECT_DOUBLE_EQ(again.work().decode_context_tokens - alone.work().decode_context_tokens, 12 * 5 * 4);
  EXPECT_DOUBLE_EQ(again.work().cached_tokens, 12 * (8 + 8));
}

TEST(Decode, TrainingSeesWhatTheToolsReturned) {
  for (const bool packed : {false, true}) {
    Execution execution;
    execution.packed = packed;
    const TermCase training(kTraining, with(on_device(0), execution), with_tools());
    EXPECT_EQ(training.task.sequence_tokens(), 16);
    EXPECT_DOUBLE_EQ(training.task.attention_tokens, 16);
  }
}

TEST(Decode, FixedLengthsNeedTheSameStepsEitherWay) {
  for (const Execution& execution : {Execution{}, stopping(), refilling()}) {
    const TermCase fixed(kGeneration, four_places(execution));
    EXPECT_DOUBLE_EQ(fixed.work().decode_steps, 15);
    EXPECT_DOUBLE_EQ(fixed.work().live_sequences(), 4);
    EXPECT_DOUBLE_EQ(fixed.work().decode_context_tokens, 12 * (4 + 5 + 6 + 7 + 8));
  }
}

TEST(Decode, TheCacheLimitsThePlaces) {
  // A sequence takes 8 tokens * 3 layers * 8 elements * 2 bytes = 384 bytes.
  Execution execution;
  execution.kv_cache_bytes = 4 * 384;
  const TermCase four(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(four.work().decode_together, 4);
  EXPECT_DOUBLE_EQ(four.work().decode_steps, 15);
  execution.kv_cache_bytes = 1;  // one is always let in
  const TermCase one(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(one.work().decode_together, 1);
  execution.kv_cache_bytes = 1e9;
  const TermCase all(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(all.work().decode_together, 12);
  // With places refilled one by one half of the response is there in the mean: 5.5 tokens.
  execution.continuous_batching = true;
  execution.kv_cache_bytes = 4 * 5.5 * 3 * 8 * 2;
  const TermCase refilled(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(refilled.work().decode_together, 4);
  // In 8 bits twice as many.
  execution.cache_precision = Precision::fp8;
  const TermCase eight(kGeneration, with(on_device(0), execution));
  EXPECT_DOUBLE_EQ(eight.work().decode_together, 8);
}

TEST(Decode, TheTightestStageLimitsThePlaces) {
  Execution execution;
  execution.kv_cache_bytes = 8 * 2 * 8 * 2 / 2 * 3;  // stage 0: 2 layers of 8 elements over TP 2, 3 sequences
  const TermCase generation(kGeneration, with(uneven_pipeline(), execution));
  EXPECT_DOUBLE_EQ(generation.work().decode_together, 3);  // stage 1 holds as much: 1 layer on TP 1
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

TEST(Decode, AsynchronousGenerationNeverDrains) {
  Workflow asynchronous = uneven_responses(), one_off = uneven_responses();
  asynchronous.mode = Mode::asynchronous;
  asynchronous.staleness = 1;
  one_off.mode = Mode::one_step_off;
  one_off.staleness = 1;
  const TermCase flowing(kGeneration, four_places(refilling()), asynchronous);
  const TermCase draining(kGeneration, four_places(refilling()), one_off);
  // 12 sequences of 4 tokens in 4 places, without the wait for the last ones.
  EXPECT_DOUBLE_EQ(flowing.work().decode_steps, 12 * 4 / 4.0);
  EXPECT_DOUBLE_EQ(draining.work().decode_steps, 8 * 4 / 4.0 + 5.75);
}

TEST(Decode, StalenessPutsMoreBatchesOnTheirWay) {
  Workflow asynchronous = uneven_responses();
  asynchronous.mode = Mode::asynchronous;
  asynchronous.staleness = 3;
  const TermCase flowing(kGeneration, with(on_device(0), refilling()), asynchronous);
  // 36 of 12 a batch: a batch is done after a third of the mean response.
  EXPECT_DOUBLE_EQ(flowing.work().decode_together, 36);
  EXPECT_DOUBLE_EQ(flowing.work().decode_steps, 4 / 3.0);
  EXPECT_DOUBLE_EQ(flowing.work().live_sequences(), 36);
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

// Of a layer 64 attention, 36 shared and 16 router parameters are always read, 60 of every expert touched.
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
}  // namespace sextant::testing
