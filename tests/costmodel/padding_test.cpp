// Batches that are padded to their longest sequence: how much work, memory and waiting they are.
#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/terms/uneven_lengths.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

// 12 sequences with 3 tokens of prompt and 2 or 6 of response; the longest of n is expected at 9 - 4 / 2^n.
Workflow short_or_long() {
  Workflow workflow = small_workflow();
  workflow.response_tokens = two_or_six();
  return workflow;
}

// Two replicas of six sequences each, in micro-batches of three.
TaskPlan padded_plan(Padding padding, int zero_stage = 0) {
  Execution execution;
  execution.padding = padding;
  execution.zero_stage = zero_stage;
  return with(two_replicas(), execution);
}

TEST(PaddedWork, IsAsLongAsTheLongestThatIsThere) {
  const auto tokens_of = [](Padding padding) {
    return TermCase(kTraining, padded_plan(padding), short_or_long()).work().sequence_tokens;
  };
  EXPECT_DOUBLE_EQ(tokens_of(Padding::maximum), 9);
  EXPECT_DOUBLE_EQ(tokens_of(Padding::batch), 9 - 4.0 / 64);
  EXPECT_DOUBLE_EQ(tokens_of(Padding::micro_batch), 9 - 4.0 / 8);
  const TermCase unstated(kTraining, two_replicas(), short_or_long());
  EXPECT_DOUBLE_EQ(unstated.work().sequence_tokens, 9);  // as it always was
}

// In the largest micro-batch of an iteration is the longest of all twelve.
TEST(PaddedWork, MemoryHoldsTheLongestOfTheIteration) {
  for (const Padding padding : {Padding::batch, Padding::micro_batch}) {
    const TermCase training(kTraining, padded_plan(padding), short_or_long());
    EXPECT_DOUBLE_EQ(training.work().memory_tokens, 9 - 4.0 / 4096);
  }
}

// A micro-batch of one sequence has no padding: 7 tokens in the mean, and a mean square of 9 + 24 + 20.
TEST(PaddedWork, OneSequenceIsAsPacked) {
  TaskPlan plan = padded_plan(Padding::micro_batch);
  plan.micro_batch_sequences = 1;
  const TermCase training(kTraining, plan, short_or_long());
  EXPECT_DOUBLE_EQ(training.work().sequence_tokens, 7);
  EXPECT_DOUBLE_EQ(training.work().attention_tokens, std::sqrt(53.0));
}

// Two sequences of 8 tokens are 16, and three of 8.5 more than 20: n (9 - 4 / 2^n) = 20 at n = 2.41.
TEST(PaddedWork, FillsBudgetsOfTokens) {
  TaskPlan plan = padded_plan(Padding::micro_batch);
  plan.execution.micro_batch_tokens = 20;
  const TermCase training(kTraining, plan, short_or_long());
  EXPECT_GT(training.work().sequence_tokens, 8);
  EXPECT_LT(training.work().sequence_tokens, 8.5);
  EXPECT_DOUBLE_EQ(training.work().micro_batches, 3);  // 6 x 8.2 / 20
}

// The longest of 12 is expected at 9 - 4 / 4096, of 6 at 9 - 4 / 64, of 3 at 8.5.
TEST(PaddedWork, ReplicasWaitForTheLongestOfAll) {
  const auto share_of = [](const TaskPlan& plan) {
    const TermCase training(kTraining, plan, short_or_long());
    return terms::uneven_share(training.task, training.work());
  };
  const double of_twelve = 9 - 4.0 / 4096, of_six = 9 - 4.0 / 64, of_three = 8.5;
  EXPECT_DOUBLE_EQ(share_of(padded_plan(Padding::batch)), of_twelve / of_six - 1);
  EXPECT_DOUBLE_EQ(share_of(padded_plan(Padding::batch, 3)), of_twelve / of_six - 1);
  EXPECT_DOUBLE_EQ(share_of(padded_plan(Padding::micro_batch, 3)), of_six / of_three - 1);
  EXPECT_DOUBLE_EQ(share_of(padded_plan(Padding::micro_batch)), (of_six / of_three - 1) / std::sqrt(2.0));
  EXPECT_EQ(share_of(padded_plan(Padding::maximum)), 0);
}

// 64 x 8 responses with a median of 1253 tokens: the longest of the 64 of a replica is expected at about
// 1253 e^(0.6 x 2.4) = 5,300, and none of an iteration reaches 16,384.
TEST(PaddedWork, DoesNotDependOnACapThatNoResponseReaches) {
  const auto tokens_at = [](double cap, Padding padding) {
    Workflow workflow = small_workflow();
    workflow.prompts = 16;
    workflow.responses_per_prompt = 8;
    workflow.prompt_tokens = fixed_length(300);
    workflow.response_tokens = Lengths{};
    workflow.response_tokens.kind = LengthKind::lognormal;
    workflow.response_tokens.median = 1253;
    workflow.response_tokens.sigma = 0.6;
    workflow.response_tokens.max = cap;
    return TermCase(kTraining, padded_plan(padding), workflow).work();
  };
  const ReplicaWork at_16k = tokens_at(16384, Padding::batch), at_32k = tokens_at(32768, Padding::batch);
  EXPECT_NEAR(at_16k.sequence_tokens, 5600, 200);
  EXPECT_NEAR(at_32k.sequence_tokens / at_16k.sequence_tokens, 1, 0.01);
  EXPECT_NEAR(at_32k.slowest_tokens / at_16k.slowest_tokens, 1, 0.01);
  EXPECT_NEAR(at_32k.memory_tokens / at_16k.memory_tokens, 1, 0.01);
  EXPECT_DOUBLE_EQ(tokens_at(32768, Padding::maximum).sequence_tokens, 33068);
}

TEST(PaddedWork, ThoseDealtByLengthPadToTheLongestOfTheirRange) {
  TaskPlan plan = padded_plan(Padding::batch);
  plan.replicas[1].length_rank = 1;
  const TermCase training(kTraining, plan, short_or_long());
  EXPECT_DOUBLE_EQ(training.task.replicas[0].sequence_tokens, 5);  // the six short ones
  EXPECT_DOUBLE_EQ(training.task.replicas[1].sequence_tokens, 9);
  EXPECT_EQ(terms::uneven_share(training.task, training.work()), 0);
}

}  // namespace
}  // namespace sextant::test
