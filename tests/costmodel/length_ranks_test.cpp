// Replicas that get their sequences by length (Replica::length_rank) are costed by their own.
#include <gtest/gtest.h>

#include "costmodel/task.h"
#include "costmodel/terms/memory.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// 12 sequences with 3 tokens of prompt and 2 or 6 of response, six of each.
Workflow short_and_long() {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  return workflow;
}

Workflow all_of(double response) {
  Workflow workflow = small_workflow();
  workflow.response_tokens = fixed_length(response);
  return workflow;
}

// Six sequences each; the second replica gets the long ones.
TaskPlan by_length(bool packed) {
  Execution execution;
  execution.packed = packed;
  TaskPlan plan = with(two_replicas(), execution);
  plan.replicas[1].length_rank = 1;
  return plan;
}

class LengthRanks : public ::testing::TestWithParam<bool> {};

// The time is that of a batch whose sequences are all as long as the replica's own.
TEST_P(LengthRanks, EachReplicaHasItsOwnLengths) {
  for (const char* name : {kTraining, kInference}) {
    TermCase dealt(name, by_length(GetParam()), short_and_long());
    const TermCase shorts(name, by_length(GetParam()), all_of(2)),
        longs(name, by_length(GetParam()), all_of(6));
    ASSERT_EQ(dealt.task.classes.size(), 2U);
    const auto cost = [](const TermCase& of, int of_class) {
      return task_parts::replica_cost(of.problem(), of.task, of_class).time_s;
    };
    ASSERT_EQ(shorts.task.classes.size(), 2U);
    EXPECT_DOUBLE_EQ(cost(dealt, 0), cost(shorts, 0));
    EXPECT_DOUBLE_EQ(cost(dealt, 1), cost(longs, 1));
    for (int stage = 0; stage < 2; ++stage) {
      EXPECT_DOUBLE_EQ(stage_memory(dealt.task, 0, stage).activation_bytes,
                       stage_memory(shorts.task, 0, stage).activation_bytes);
      EXPECT_DOUBLE_EQ(stage_memory(dealt.task, 1, stage).activation_bytes,
                       stage_memory(longs.task, 1, stage).activation_bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PaddedAndPacked, LengthRanks, ::testing::Bool());

TEST(LengthRanksOfOneRank, AreNone) {
  TaskPlan alike = by_length(true);
  alike.replicas[0].length_rank = 1;
  const TermCase ranked(kTraining, alike, short_and_long());
  alike.replicas[0].length_rank = alike.replicas[1].length_rank = 0;
  const TermCase mixed(kTraining, alike, short_and_long());
  EXPECT_EQ(task_cost(ranked.problem(), ranked.task).time_s, task_cost(mixed.problem(), mixed.task).time_s);
}

// Two of three replicas share the short half out: each has the mean of all that are short.
TEST(LengthRanksThatAreShared, AreOfThePartTogether) {
  TaskPlan plan = plan_of({{stage(3, {0})}, {stage(3, {1})}, {stage(3, {2})}});
  plan.execution.packed = true;
  plan.replicas[0].batch_share = plan.replicas[1].batch_share = 0.25;
  plan.replicas[2].batch_share = 0.5;
  plan.replicas[2].length_rank = 3;
  const TermCase training(kTraining, plan, short_and_long());
  EXPECT_DOUBLE_EQ(training.task.replicas[0].sequence_tokens, 5);
  EXPECT_DOUBLE_EQ(training.task.replicas[1].sequence_tokens, 5);
  EXPECT_DOUBLE_EQ(training.task.replicas[2].sequence_tokens, 9);
  EXPECT_DOUBLE_EQ(training.task.replicas[2].attention_tokens, 9);
}

TEST(LengthRanksWithABudget, FillMicroBatchesWithMoreShortSequences) {
  TaskPlan plan = by_length(true);
  plan.execution.micro_batch_tokens = 15;
  const TermCase training(kTraining, plan, short_and_long());
  EXPECT_DOUBLE_EQ(training.task.replicas[0].micro_batches, 2);  // 30 tokens
  EXPECT_DOUBLE_EQ(training.task.replicas[1].micro_batches, 4);  // 54
}

}  // namespace
}  // namespace sextant::test
