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

TEST(UnevenLengths, AShareOfTheReplicasWork) {
  TermCase training(kTraining, packed_replicas(), uneven());
  const TaskCost<double> before = task_cost(training.problem(), training.task);
  training.set(uneven_lengths_weight, 0.5);
  const TaskCost<double> after = task_cost(training.problem(), training.task);
  const double work = before.time_s - before.term(Term::data_parallel);
  EXPECT_DOUBLE_EQ(after.term(Term::uneven_lengths), 0.5 * share_of(training) * work);
  EXPECT_DOUBLE_EQ(after.time_s, before.time_s + after.term(Term::uneven_lengths));
}

}  // namespace
}  // namespace sextant::test
