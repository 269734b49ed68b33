// Gradient reductions beyond the appendix: overlap with the backward pass, context-parallel parts, shared
// networks, adapters and the precision in which gradients travel.
#include "costmodel/terms/data_parallel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/sharded_weights.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

double reduced_s(const TermCase& training, double backward_s = 0) {
  return terms::data_parallel_s(training.problem(), training.task, backward_s);
}

// 2 * 480 bytes, twice a half of it, over a-a.
constexpr double kAllReduce = 1 + 960 / 100.0;

TEST(DataParallel, RunsBesideTheBackwardPassOfTheLastMicroBatch) {
  TermCase training(kTraining, two_fast());  // 2 micro-batches
  EXPECT_DOUBLE_EQ(reduced_s(training, 1e6), kAllReduce);
  training.set(data_parallel_overlap, 0.5);
  EXPECT_DOUBLE_EQ(reduced_s(training, 2 * kAllReduce), kAllReduce * (1 - 0.5 * std::pow(2, -0.25)));
  EXPECT_NEAR(reduced_s(training, 1e7), 0.5 * kAllReduce, 1e-9);
  EXPECT_DOUBLE_EQ(reduced_s(training, 0), kAllReduce);
}

TEST(DataParallel, RunsBesideAllOfItWhereGradientsAreReducedEveryMicroBatch) {
  Execution execution;
  execution.zero_stage = 2;
  TermCase training(kTraining, with(two_fast(), execution));
  training.set(data_parallel_overlap, 0.5);
  EXPECT_DOUBLE_EQ(reduced_s(training, 2 * kAllReduce), 2 * kAllReduce * (1 - 0.5 * std::pow(2, -0.25)));
}

TEST(DataParallel, EveryMiniBatchHidesItsOwn) {
  Workflow workflow = small_workflow();
  workflow.mini_batches = 2;  // one micro-batch each
  TermCase training(kTraining, two_fast(), workflow);
  training.set(data_parallel_overlap, 0.5);
  EXPECT_DOUBLE_EQ(reduced_s(training, 2 * kAllReduce), 2 * kAllReduce * (1 - 0.5 * std::pow(2, -0.25)));
}

TEST(DataParallel, ContextParallelPartsTakePart) {
  Execution execution;
  execution.context_parallel = 2;
  const TermCase one(kTraining, with(plan_of({{stage(3, {0, 1})}}), execution));
  EXPECT_DOUBLE_EQ(reduced_s(one), kAllReduce);
  // Two replicas of two parts: 2 * 480 * 2 * 3/4 = 1440 bytes over a-b.
  const TermCase two(kTraining, with(plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}}), execution));
  ASSERT_EQ(two.task.gradient_groups.size(), 1u);
  EXPECT_EQ(two.task.gradient_groups[0].members, device_ids({0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(reduced_s(two), 5 + 144);
}

TEST(DataParallel, TensorAndContextParallelPartsGoTogether) {
  // TP 2 x CP 2 in each of two nodes: shard 0 lies on 0, 2, 4, 6 and shard 1 on 1, 3, 5, 7.
  Execution execution;
  execution.context_parallel = 2;
  const TermCase training(kTraining,
                          with(plan_of({{stage(3, {0, 1, 2, 3})}, {stage(3, {4, 5, 6, 7})}}), execution),
                          small_workflow(), row_of_nodes(2, 4));
  ASSERT_EQ(training.task.gradient_groups.size(), 1u);  // both cost the same
  EXPECT_EQ(training.task.gradient_groups[0].members, device_ids({0, 2, 4, 6}));
  EXPECT_EQ(training.task.gradient_groups[0].leaving.node, 2);
  // 2 * 480 / 2 * 2 * 3/4 = 720 bytes.
  EXPECT_DOUBLE_EQ(reduced_s(training), 5 + 72);
}

TEST(DataParallel, GroupsThatLeaveANodeTogetherShareItsNetwork) {
  // TP 2 in each of two nodes: two groups of two, 480 bytes each, through adapters of 15 B/s: 7.5 for each.
  const TaskPlan plan = plan_of({{stage(3, {0, 1})}, {stage(3, {2, 3})}});
  const TermCase narrow(kTraining, plan, small_workflow(), row_of_nodes(2, 2, 15));
  EXPECT_DOUBLE_EQ(reduced_s(narrow), 5 + 480 / 7.5);
  const TermCase wide(kTraining, plan, small_workflow(), row_of_nodes(2, 2, 30));
  EXPECT_DOUBLE_EQ(reduced_s(wide), 5 + 48);  // the link's own 10
  // Groups inside a node do not.
  const TermCase inside(kTraining, plan, small_workflow(), row_of_nodes(1, 4, 15));
  EXPECT_EQ(inside.task.gradient_groups[0].leaving.node, 1);
  EXPECT_DOUBLE_EQ(reduced_s(inside), 1 + 4.8);
}

// Four replicas on two nodes, weights sharded over the two of each node.
TaskPlan sharded_by_node() {
  Execution execution;
  execution.zero_stage = 3;
  execution.sharded_over = 2;
  return with(plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}}), execution);
}

TEST(DataParallel, HybridShardingReducesInGroupsAndThenBetweenThem) {
  const TermCase training(kTraining, sharded_by_node(), small_workflow(), row_of_nodes(2, 2, 15));
  ASSERT_EQ(training.task.shard_groups.size(), 1u);  // both nodes cost the same
  EXPECT_EQ(training.task.shard_groups[0].members, device_ids({0, 1}));
  ASSERT_EQ(training.task.copy_groups.size(), 1u);
  EXPECT_EQ(training.task.copy_groups[0].members, device_ids({0, 2}));
  // Half of 960 bytes over a-a; then each device all-reduces its half with one of the other node, 480 bytes by
  // adapters of 15 B/s that two share.
  EXPECT_DOUBLE_EQ(reduced_s(training), (1 + 4.8) + (5 + 480 / 7.5));
  // A pass gathers the other half from the own node: forward and backward.
  EXPECT_DOUBLE_EQ(terms::weight_gather_s(training.at(), 0.0), 2 * (1 + 4.8));
}

TEST(DataParallel, AdaptersAlone) {
  // Rank 2: query 2 (4 + 4), key and value 2 * 2 (4 + 4), output 2 (4 + 4), three MLP matrices 3 * 2 (4 + 8).
  Execution execution;
  execution.lora_rank = 2;
  const TermCase training(kTraining, with(two_fast(), execution));
  EXPECT_EQ(terms::trainable_parameters(training.task, 3, true, true), 3 * (16 + 32 + 16 + 72));
  EXPECT_DOUBLE_EQ(reduced_s(training), 1 + 2 * 408 / 100.0);
}

TEST(DataParallel, AdaptersOfExpertsAndLatentAttention) {
  // Four experts of three matrices between 4 and 5, and shared ones of three between 4 and 3.
  Execution execution;
  execution.lora_rank = 2;
  const TermCase mixed(kTraining, with(two_fast(), execution), with_model(small_mixture()));
  EXPECT_EQ(terms::trainable_expert_parameters(mixed.task, 3), 3 * 2 * 4 * 3 * 9);
  EXPECT_EQ(terms::trainable_parameters(mixed.task, 3, true, true), 3 * 2 * (8 + 16 + 8 + 3 * 7 + 4 * 3 * 9));
  // One of the three layers dense: 3 (4 + 8).
  Model partly = small_mixture();
  partly.experts->dense_layers = 1;
  const TermCase mean(kTraining, with(two_fast(), execution), with_model(partly));
  EXPECT_DOUBLE_EQ(terms::trainable_parameters(mean.task, 3, true, true), 2 * (3 * 32 + 2 * (21 + 108) + 36.0));
  // Query 4 to 2 and 2 to 4 heads of 1 + 1; compressed 4 to 3 + 1 and 3 to twice 4; output 4 to 4.
  Model latent = small_model();
  latent.latent_attention = LatentAttention{2, 3, 1};
  const TermCase compressed(kTraining, with(two_fast(), execution), with_model(latent));
  EXPECT_EQ(terms::trainable_parameters(compressed.task, 1, true, true), 2 * (6 + 10 + 8 + 11 + 8 + 36));
}

TEST(DataParallel, AdaptersOfDealtExpertsAreNotReduced) {
  Execution execution;
  execution.lora_rank = 2;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const TermCase training(kTraining, with(two_fast(), execution), with_model(small_mixture()));
  EXPECT_DOUBLE_EQ(reduced_s(training), 1 + 2 * 3 * 2 * (32 + 21) / 100.0);
}

TEST(DataParallel, ExpertsAreReducedAmongThoseThatHoldThem) {
  // 3 layers: 240 parameters of routed experts, 116 others. Two ranks over two replicas: nobody shares an
  // expert.
  Execution execution;
  execution.expert_parallel = 2;
  execution.expert_tensor_parallel = 1;
  const Workflow mixture = with_model(small_mixture());
  const TermCase alone(kTraining, with(two_fast(), execution), mixture);
  EXPECT_DOUBLE_EQ(reduced_s(alone), 1 + 2 * 3 * 116 / 100.0);
  // Over four replicas two hold each: the others' 2 * 3/4, and of a half of the experts 2 * 1/2.
  const TaskPlan four = plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}});
  const TermCase pairs(kTraining, with(four, execution), mixture, row_of_nodes(1, 4));
  EXPECT_DOUBLE_EQ(reduced_s(pairs), 1 + 2 * (3 * 116 * 1.5 + 3 * 120) / 100.0);
  const TermCase dense(kTraining, four, mixture, row_of_nodes(1, 4));
  EXPECT_DOUBLE_EQ(reduced_s(dense), 1 + 2 * 3 * 356 * 1.5 / 100.0);
}

TEST(DataParallel, EfficiencyIsOfLinksWithinANode) {
  TermCase inside(kTraining, two_fast());
  inside.set(data_parallel_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(reduced_s(inside), 1 + 960 / 25.0);
  // Between nodes only where the members of a node cannot feed the network: 1440 bytes among two in each of two
  // nodes, at 10 B/s between and at 0.05 of 100 B/s inside.
  const TaskPlan four = plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}, {stage(3, {3})}});
  TermCase between(kTraining, four, small_workflow(), row_of_nodes(2, 2));
  between.set(data_parallel_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(reduced_s(between), 5 + 144);
  between.set(data_parallel_efficiency, 0.05);
  EXPECT_DOUBLE_EQ(reduced_s(between), 5 + 1440 / 5.0);
}

TEST(DataParallel, GradientsInTheirOwnPrecision) {
  Execution execution;
  execution.gradient_precision = Precision::fp32;
  const TermCase training(kTraining, with(two_fast(), execution));
  EXPECT_DOUBLE_EQ(reduced_s(training), 1 + 1920 / 100.0);
}

}  // namespace
}  // namespace sextant::test
