// Tokens to their experts and back: the formula of terms/expert_parallel.h on the small mixture.
#include "costmodel/terms/expert_parallel.h"

#include <gtest/gtest.h>

#include "costmodel/terms/decode.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

Execution experts_over(int ranks, int inside = 1) {
  Execution execution;
  execution.expert_parallel = ranks;
  execution.expert_tensor_parallel = inside;
  return execution;
}

const Workflow kMixture = with_model(small_mixture());

TEST(ExpertParallel, NothingWithoutExpertsOrRanks) {
  const TermCase dense(kInference, with(plan_of({{stage(3, {0, 1})}}), experts_over(2)));
  EXPECT_EQ(terms::expert_parallel_s(dense.at(), 0.0), 0);
  const TermCase one(kInference, plan_of({{stage(3, {0, 1})}}), kMixture);
  EXPECT_EQ(terms::expert_parallel_s(one.at(), 0.0), 0);
}

TEST(ExpertParallel, TokensGoAndComeOnceALayer) {
  // A micro-batch has 24 tokens, 12 a device of the TP group: 2 bytes * 12 * 2 experts * 4 * 1/2 = 96 over a-a.
  const TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), experts_over(2)), kMixture);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(inference.at(), 0.0), 2 * 4 * 3 * (1 + 0.96));
  TermCase training(kTraining, with(plan_of({{stage(3, {0, 1})}}), experts_over(2)), kMixture);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(training.at(), 0.0), 2 * 2 * 4 * 3 * (1 + 0.96));
  training.set(expert_parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(training.at(), 0.0), 2 * 2 * 4 * 3 * (1 + 1.92));
}

TEST(ExpertParallel, RecomputingGoesAThirdTime) {
  TaskPlan plan = with(plan_of({{stage(3, {0, 1})}}), experts_over(2));
  plan.recompute = Recompute::full;
  const TermCase training(kTraining, plan, kMixture);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(training.at(), 0.0), 2 * 3 * 4 * 3 * (1 + 0.96));
}

TEST(ExpertParallel, DenseLayersSendNothing) {
  Model model = small_mixture();
  model.experts->dense_layers = 1;
  const TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), experts_over(2)), with_model(model));
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(inference.at(), 0.0), 2 * 4 * 2 * (1 + 0.96));
}

TEST(ExpertParallel, PrefillSendsThePromptsOnly) {
  // 9 tokens a micro-batch, TP 2: 2 * 4.5 * 2 * 4 / 2 = 36 bytes.
  const TermCase prefill(kGeneration, with(plan_of({{stage(3, {0, 1})}}), experts_over(2)), kMixture);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(prefill.at(), 0.0), 2 * 4 * 3 * (1 + 0.36));
}

TEST(ExpertParallel, WhatLeavesTheNodeGoesThroughEachDevicesOwnLink) {
  // 12 tokens a device: 2 bytes * 12 * 2 * 4 * 3/4 = 144 to three others, 96 of them to the two of the other
  // node, in 2 micro-batches; the 48 to the neighbour take 0.48 s beside it.
  const TaskPlan plan = with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), experts_over(4));
  TermCase own(kInference, plan, kMixture, row_of_nodes(2, 2));
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(own.at(), 0.0), 2 * 2 * 3 * (5 + 9.6));
  own.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(own.at(), 0.0), 2 * 2 * 3 * (5 + 9.6));
  own.set(expert_parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(own.at(), 0.0), 2 * 2 * 3 * (5 + 19.2));
  const TermCase shared(kInference, plan, kMixture, row_of_nodes(2, 2, 15));
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(shared.at(), 0.0), 2 * 2 * 3 * (5 + 12.8));
}

TEST(ExpertParallel, FusedDispatchSendsATokenOnceToANodeAndOnceToADevice) {
  // Each of four devices holds one of four experts: 1 - (3/4)^2 of the tokens go to each of three others.
  const terms::DispatchedCopies near = terms::dispatched_copies(2, true, 4, 1);
  EXPECT_DOUBLE_EQ(near.inside, 3 * 7 / 16.0);
  EXPECT_EQ(near.outside, 0);
  const terms::DispatchedCopies far = terms::dispatched_copies(2, true, 4, 2);
  EXPECT_DOUBLE_EQ(far.outside, 0.75);  // to the other node
  const terms::DispatchedCopies plain = terms::dispatched_copies(2, false, 4, 2);
  EXPECT_DOUBLE_EQ(plain.inside, 2 / 4.0);
  EXPECT_DOUBLE_EQ(plain.outside, 2 * 2 / 4.0);

  Execution fused = experts_over(4);
  fused.fused_dispatch = true;
  const TaskPlan plan = with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), fused);
  const TermCase task(kInference, plan, kMixture, row_of_nodes(2, 2));
  // A copy of the 12 tokens of a device is 96 bytes; 72 of them cross at 10 B/s.
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(task.at(), 0.0), 2 * 2 * 3 * (5 + 7.2));
}

TEST(ExpertParallel, OverlapHidesAShareBesideLongWorkWhereAPlanHasIt) {
  constexpr double kRoundingOfALongWork = 1e-9;
  Execution beside = experts_over(2);
  TermCase alone(kInference, with(plan_of({{stage(3, {0, 1})}}), beside), kMixture);
  alone.set(expert_parallel_overlap, 0.5);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(alone.at(), 1e6), 2 * 4 * 3 * (1 + 0.96));
  beside.overlap_dispatch = true;
  TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), beside), kMixture);
  inference.set(expert_parallel_overlap, 0.5);
  EXPECT_NEAR(terms::expert_parallel_s(inference.at(), 1e6), 0.5 * 2 * 4 * 3 * (1 + 0.96),
              kRoundingOfALongWork);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(inference.at(), 0.0), 2 * 4 * 3 * (1 + 0.96));
}

TEST(ExpertParallel, RoutingTakesItsTimeInEveryLayerWithExperts) {
  const TaskPlan one = plan_of({{stage(3, {0, 1})}});
  TermCase inference(kInference, one, kMixture), training(kTraining, one, kMixture), dense(kInference, one);
  for (TermCase* each : {&inference, &training, &dense}) each->set(expert_layer_overhead_s, 0.25);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(inference.at(), 1e6), 4 * 3 * 0.25);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(training.at(), 1e6), 2 * 4 * 3 * 0.25);
  EXPECT_EQ(terms::expert_parallel_s(dense.at(), 1e6), 0);
}

TEST(ExpertParallel, GraphsReplayTheRouting) {
  Execution replayed;
  replayed.training_graphs = TrainingGraphs::routing;
  TermCase training(kTraining, with(plan_of({{stage(3, {0, 1})}}), replayed), kMixture);
  training.set(expert_layer_overhead_s, 0.25);
  EXPECT_EQ(terms::expert_parallel_s(training.at(), 1e6), 0);
  TermCase inference(kInference, with(plan_of({{stage(3, {0, 1})}}), replayed), kMixture);
  inference.set(expert_layer_overhead_s, 0.25);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(inference.at(), 1e6), 4 * 3 * 0.25);  // graphs are of training
}

// Two replicas that hold the experts together: a micro-batch of 9 prompt tokens is 2 * 9 * 4 = 72 bytes to the other one.
const TaskPlan kShared = with(plan_of({{stage(3, {0})}, {stage(3, {1})}}), experts_over(2));

TEST(ExpertParallel, ReplicasOfAnEngineGatherTheTokensOfAllAndScatterTheResults) {
  const TermCase generation(kGeneration, kShared, kMixture);
  EXPECT_EQ(terms::attention_replicas(generation.at()), 2);
  EXPECT_EQ(terms::attention_group(generation.at()), device_ids({0, 1}));
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(generation.at(), 0.0), 2 * 2 * 3 * (1 + 0.72));
  Execution fused = kShared.execution;
  fused.fused_dispatch = true;  // 1 - (1/2)^2 of the tokens have an expert on the other device
  const TermCase dispatched(kGeneration, with(kShared, fused), kMixture);
  EXPECT_DOUBLE_EQ(terms::expert_parallel_s(dispatched.at(), 0.0), 2 * 2 * 3 * (1 + 0.54));
  // Trainers send tokens to their experts alone, whatever their replicas share.
  EXPECT_EQ(terms::attention_replicas(TermCase(kTraining, kShared, kMixture).at()), 1);
}

TEST(ExpertParallel, ReplicasThatHoldAllExpertsExchangeNothing) {
  const TaskPlan own = with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), experts_over(2));
  const TermCase generation(kGeneration, own, kMixture, row_of_nodes(2, 2));
  EXPECT_EQ(terms::attention_replicas(generation.at()), 1);
  EXPECT_EQ(terms::decode_exchange_s(generation.at()), 0);
}

// 5 steps, 3 layers, 6 sequences a replica: 2 * 6 * 4 = 48 bytes there and back in each.
TEST(ExpertParallel, EveryDecodeStepExchangesItsTokens) {
  TermCase generation(kGeneration, kShared, kMixture);
  EXPECT_DOUBLE_EQ(generation.work().live_sequences(), 6);
  EXPECT_DOUBLE_EQ(terms::decode_exchange_s(generation.at()), 5 * 3 * 2 * 0.48);
  generation.set(decode_latency_weight,
                 1);  // gather and scatter have the steps of an all-reduce of two: 1 + 0.3
  EXPECT_DOUBLE_EQ(terms::decode_latency_s(generation.at()), 5 * 3 * 1.3);
  const double whole = terms::decode_s(generation.at());
  TermCase alone(kGeneration, with(kShared, experts_over(1)), kMixture);
  alone.set(decode_latency_weight, 1);
  EXPECT_EQ(terms::decode_latency_s(alone.at()), 0);
  EXPECT_DOUBLE_EQ(whole, terms::decode_kernels_s(generation.at()) + 5 * 3 * (1.3 + 2 * 0.48));
}

// Tensor-parallel replicas reduce after attention in each, and exchange in place of the second all-reduce of a layer.
TEST(ExpertParallel, AnExchangeReplacesTheSecondAllReduce) {
  const TaskPlan plan = with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), experts_over(4));
  TermCase generation(kGeneration, plan, kMixture, row_of_nodes(2, 2));
  generation.set(decode_latency_weight, 1);
  EXPECT_EQ(terms::attention_group(generation.at()), device_ids({0, 2}));
  EXPECT_DOUBLE_EQ(terms::decode_latency_s(generation.at()), 5 * 3 * (1.3 * 1 + 1.3 * 5));
}

TEST(ExpertParallel, RanksFollowEachOther) {
  const TaskPlan plan = plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}});
  const auto group = [&](const Execution& execution) {
    const TermCase task(kInference, with(plan, execution), kMixture);
    return terms::expert_group(task.at());
  };
  EXPECT_EQ(group(experts_over(2)), device_ids({0, 1}));
  EXPECT_EQ(group(experts_over(4)), device_ids({0, 1, 2, 3}));
  // One expert over two devices: a rank is a pair, the first of each speaks for it.
  EXPECT_EQ(group(experts_over(2, 2)), device_ids({0, 2}));
  // Expert tensor parallelism of 0 is that of the stage (execution.h).
  EXPECT_EQ(group(experts_over(2, 0)), device_ids({0, 2}));
}

}  // namespace
}  // namespace sextant::test
