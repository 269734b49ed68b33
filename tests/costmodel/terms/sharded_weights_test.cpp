// ZeRO: what is gathered (terms/sharded_weights.h) and what is reduced how often (terms/data_parallel.h).
#include "costmodel/terms/sharded_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/optimizer.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

Execution zero(int stage) {
  Execution execution;
  execution.zero_stage = stage;
  return execution;
}

// Gathering 2 * 480 bytes to two: half of it over a-a. An all-reduce moves twice that.
constexpr double kGather = 1 + 480 / 100.0, kFullAllReduce = 1 + 960 / 100.0;

TEST(ShardedWeights, GatheredInEveryPassOfAMicroBatch) {
  const TermCase training(kTraining, with(two_fast(), zero(3)));
  EXPECT_EQ(training.work().micro_batches, 2);
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(), 0.0), 2 * 2 * kGather);
  const TermCase inference(kInference, with(two_fast(), zero(3)));
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(inference.at(), 0.0), 2 * kGather);
}

TEST(ShardedWeights, NothingBelowStageThreeNorInGeneration) {
  for (const int stage : {0, 1, 2}) {
    const TermCase training(kTraining, with(two_fast(), zero(stage)));
    EXPECT_EQ(terms::weight_gather_s(training.at(), 0.0), 0);
  }
  const TermCase generation(kGeneration, with(two_fast(), zero(3)));
  EXPECT_EQ(terms::weight_gather_s(generation.at(), 0.0), 0);
}

TEST(ShardedWeights, ComputationHidesTheShareThatOverlaps) {
  TermCase training(kTraining, with(two_fast(), zero(3)));
  training.set(weight_gather_overlap, 0.6);
  EXPECT_NEAR(terms::weight_gather_s(training.at(), 1e6), 0.4 * 4 * kGather, 1e-9);
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(), 4 * kGather),
                   4 * kGather * (1 - 0.6 * std::pow(2, -0.25)));
}

TEST(ShardedWeights, ContextParallelPartsHoldShardsToo) {
  Execution execution = zero(3);
  execution.context_parallel = 2;
  // Four in a node: 2 * 480 * 3/4 bytes.
  const TermCase training(kTraining, with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), execution),
                          small_workflow(), row_of_nodes(1, 4));
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(), 0.0), 4 * (1 + 720 / 100.0));
}

TEST(ShardedWeights, AStageIsGatheredOverItsOwnDevices) {
  // Stage 0 (2 layers) on the fast devices, stage 1 on the slow ones: each over its own node's links.
  const TermCase training(kTraining, with(two_replicas(), zero(3)));
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(0), 0.0), 4 * (1 + 320 / 100.0));
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(1), 0.0), 4 * (2 + 160 / 50.0));
}

TEST(Zero, VolumesOfTheReductions) {
  const auto reduced_s = [](int stage) {
    const TermCase training(kTraining, with(two_fast(), zero(stage)));
    return terms::data_parallel_s(training.problem(), training.task, 0.0);
  };
  EXPECT_DOUBLE_EQ(reduced_s(0), kFullAllReduce);
  EXPECT_DOUBLE_EQ(reduced_s(1), kFullAllReduce);      // reduce-scatter and all-gather
  EXPECT_DOUBLE_EQ(reduced_s(2), 2 * kFullAllReduce);  // after each of the two micro-batches
  EXPECT_DOUBLE_EQ(reduced_s(3), 2 * kGather);         // the reduce-scatter alone
}

TEST(Zero, ReductionsOfMiniBatches) {
  Workflow workflow = small_workflow();
  workflow.mini_batches = 2;  // 3 sequences, one micro-batch, each
  const TermCase training(kTraining, with(two_fast(), zero(2)), workflow);
  EXPECT_EQ(terms::reductions_per_mini_batch(training.task), 1);
  EXPECT_DOUBLE_EQ(terms::data_parallel_s(training.problem(), training.task, 0.0), 2 * kFullAllReduce);
}

TEST(Zero, TheOptimizerPassesOverItsShard) {
  for (const int stage : {0, 1, 2, 3}) {
    TermCase training(kTraining, with(two_fast(), zero(stage)));
    training.set(optimizer_traffic_weight, 1);
    EXPECT_DOUBLE_EQ(terms::optimizer_s(training.at()), 28 * 480 / (stage == 0 ? 1.0 : 2.0) / 50);
  }
}

}  // namespace
}  // namespace sextant::test
