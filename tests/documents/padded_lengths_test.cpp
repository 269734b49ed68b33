// The longest of a batch, by hand for lengths of 2 and 6 tokens with equal probability.
#include "documents/padded_lengths.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Lengths two_or_six_tokens() {
  Lengths lengths;
  lengths.kind = LengthKind::empirical;
  lengths.tokens = {2, 6};
  lengths.weights = {1, 1};
  return lengths;
}

// Four prompts of three responses each.
Workflow twelve_sequences() {
  Workflow workflow;
  workflow.prompts = 4;
  workflow.responses_per_prompt = 3;
  workflow.prompt_tokens = fixed_length(3);
  workflow.response_tokens = two_or_six_tokens();
  return workflow;
}

// All n are short with probability 2^-n: 6 - 4 / 2^n.
TEST(PaddedLengths, AreTheExpectedLongestOfTheBatch) {
  const Workflow workflow = twelve_sequences();
  EXPECT_DOUBLE_EQ(longest_among(workflow, 1).all(), 3 + 4);
  EXPECT_DOUBLE_EQ(longest_among(workflow, 2).all(), 3 + 5);
  EXPECT_DOUBLE_EQ(longest_among(workflow, 3).response, 5.5);
  EXPECT_DOUBLE_EQ(longest_of_iteration(workflow), 3 + 6 - 4.0 / 4096);
}

// Six sequences have two prompts.
TEST(PaddedLengths, ResponsesToAPromptShareIt) {
  Workflow workflow = twelve_sequences();
  workflow.prompt_tokens = two_or_six_tokens();
  EXPECT_DOUBLE_EQ(longest_among(workflow, 6).prompt, 5);
  EXPECT_DOUBLE_EQ(longest_among(workflow, 2).prompt, 4);  // not less than one
}

TEST(PaddedLengths, HaveWhatToolsReturn) {
  Workflow workflow = twelve_sequences();
  workflow.turns = 3;
  workflow.observation_tokens_per_turn = 7;
  EXPECT_DOUBLE_EQ(longest_among(workflow, 2).all(), 3 + 5 + 14);
}

}  // namespace
}  // namespace sextant
