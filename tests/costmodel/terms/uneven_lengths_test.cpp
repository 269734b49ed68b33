// Waiting for the replica with the longest sequences: terms/uneven_lengths.h.
#include "costmodel/terms/uneven_lengths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/task.h"
#include "costmodel/terms/stragglers.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// 12 sequences with 3 tokens of prompt and 2 or 6 of response: 7 in the mean, deviation 2.
Workflow uneven(int mini_batches = 3) {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  workflow.mini_batches = mini_batches;
  return workflow;
}

TaskPlan packed_replicas(int zero_stage = 0) {
  Execution execution;
  execution.packed = true;
  execution.zero_stage = zero_stage;
  return with(two_replicas(), execution);
}

double share_of(const TermCase& task) { return terms::uneven_share(task.task, task.work()); }

TEST(UnevenLengths, ReplicasMeetAtEveryMiniBatch) {
  // Two of a replica's six sequences a mini-batch: deviation 2 / 7 / sqrt(2), less for the even deal of all
  // six.
  const TermCase training(kTraining, packed_replicas(), uneven());
  EXPECT_DOUBLE_EQ(share_of(training),
                   2.0 / 7 / std::sqrt(2.0) * std::sqrt(1 - 2.0 / 6) * terms::expected_largest(2));
}

TEST(UnevenLengths, AnEvenDealIsEvenAtItsEnd) {
  const TermCase one_mini_batch(kTraining, packed_replicas(), uneven(1));
  EXPECT_EQ(share_of(one_mini_batch), 0);
  const TermCase inference(kInference, packed_replicas(), uneven());
  EXPECT_EQ(share_of(inference), 0);
}

TEST(UnevenLengths, ShardedWeightsMeetAtEveryMicroBatch) {
  const TermCase training(kTraining, packed_replicas(3), uneven(1));  // micro-batches of three
  EXPECT_DOUBLE_EQ(share_of(training),
                   2.0 / 7 / std::sqrt(3.0) * std::sqrt(1 - 3.0 / 6) * terms::expected_largest(2));
  const TermCase inference(kInference, packed_replicas(3), uneven(1));
  EXPECT_DOUBLE_EQ(share_of(inference), share_of(training));
  // Filled up to so many tokens they take as long as each other.
  TaskPlan filled = packed_replicas(3);
  filled.execution.micro_batch_tokens = 21;
  const TermCase by_tokens(kTraining, filled, uneven(1));
  EXPECT_EQ(share_of(by_tokens), 0);
}

TEST(UnevenLengths, NothingToWaitFor) {
  const TermCase padded(kTraining, two_replicas(), uneven());
  EXPECT_EQ(share_of(padded), 0);
  const TermCase alone(kTraining, with(on_device(0), packed_replicas().execution), uneven());
  EXPECT_EQ(share_of(alone), 0);
  const TermCase generation(kGeneration, packed_replicas(), uneven());
  EXPECT_EQ(share_of(generation), 0);
  Workflow fixed = uneven();
  fixed.response_tokens = fixed_length(4);
  const TermCase even(kTraining, packed_replicas(), fixed);
  EXPECT_EQ(share_of(even), 0);
}

// Replicas whose own sequences are as long as each other wait for none.
TEST(UnevenLengths, ThoseDealtByLengthSpreadLess) {
  TaskPlan by_length = packed_replicas();
  by_length.replicas[1].length_rank = 1;
  const TermCase training(kTraining, by_length, uneven());
  EXPECT_EQ(share_of(training), 0);
}

TEST(UnevenLengths, WhatToolsReturnIsPartOfASequence) {
  Workflow tools = uneven();
  tools.turns = 2;
  tools.observation_tokens_per_turn = 7;  // 14 tokens in the mean, deviation still 2
  const TermCase with_tools(kTraining, packed_replicas(), tools),
      without(kTraining, packed_replicas(), uneven());
  EXPECT_NEAR(share_of(with_tools), 0.5 * share_of(without), 1e-12);  // a variance from squares
}

double stage_s(const TermCase& training, Term term) { return task_parts::stage_cost(training.at()).term(term); }

TEST(UnevenLengths, AShareOfTheDevicesWork) {
  TermCase training(kTraining, packed_replicas(), uneven());
  const double before = task_parts::stage_cost(training.at()).time_s;
  training.set(uneven_lengths_weight, 0.5);
  EXPECT_DOUBLE_EQ(stage_s(training, Term::uneven_lengths),
                   0.5 * share_of(training) * stage_s(training, Term::compute));
  EXPECT_DOUBLE_EQ(task_parts::stage_cost(training.at()).time_s,
                   before + stage_s(training, Term::uneven_lengths));
}

// A replica that is slow in every stage has a longer bubble, too.
TEST(UnevenLengths, TheBubbleGrowsAsTheStagesDo) {
  TermCase training(kTraining, packed_replicas(), uneven());
  const TaskCost<double> before = task_cost(training.problem(), training.task);
  training.set(uneven_lengths_weight, 1);
  const TaskCost<double> after = task_cost(training.problem(), training.task);
  ASSERT_GT(before.term(Term::bubble), 0);
  EXPECT_NEAR(after.term(Term::bubble) / before.term(Term::bubble), 1 + share_of(training), 1e-9);
}

// Every replica's host takes the same time for a micro-batch, however long its sequences are.
TEST(UnevenLengths, TheHostsTimeDoesNotGrow) {
  TermCase training(kTraining, packed_replicas(3), uneven());
  training.set(uneven_lengths_weight, 1);
  const double wait = stage_s(training, Term::uneven_lengths);
  ASSERT_GT(wait, 0);
  training.set(layer_overhead_s, 1000);  // host and device one after the other
  EXPECT_NEAR(stage_s(training, Term::uneven_lengths), wait, 1e-9);
  training.set(host_sharing, 0.95);  // the device waits for its host all the time
  EXPECT_LT(stage_s(training, Term::uneven_lengths), 0.01 * wait);
}

// More tokens are more micro-batches.
TEST(UnevenLengths, AllOfAStageGrowsIfMicroBatchesAreFilled) {
  TaskPlan filled = packed_replicas();
  filled.execution.micro_batch_tokens = 21;
  TermCase training(kTraining, filled, uneven());
  training.set(uneven_lengths_weight, 1);
  training.set(layer_overhead_s, 1000);
  ASSERT_GT(stage_s(training, Term::overhead), 0);
  EXPECT_DOUBLE_EQ(stage_s(training, Term::uneven_lengths),
                   share_of(training) * (stage_s(training, Term::compute) + stage_s(training, Term::overhead)));
}

TEST(UnevenLengths, GatheringOfWeightsDoesNotGrow) {
  TermCase training(kTraining, packed_replicas(3), uneven());
  training.set(uneven_lengths_weight, 1);
  ASSERT_GT(stage_s(training, Term::weight_gather), 0);
  EXPECT_DOUBLE_EQ(stage_s(training, Term::uneven_lengths),
                   share_of(training) * stage_s(training, Term::compute));
}

}  // namespace
}  // namespace sextant::test
