// Response lengths sampled over a window of training steps.
#include "planner/two_phase/window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/planner/two_phase/hex_case.h"

namespace sextant::test {
namespace {

Workflow with_lengths(LengthKind kind) {
  Workflow workflow = hex_grpo();
  Lengths lengths;
  lengths.kind = kind;
  lengths.median = 800;
  lengths.sigma = 0.7;
  lengths.max = 8192;
  if (kind == LengthKind::empirical) {
    lengths.tokens = {100, 900, 5000};
    lengths.weights = {1, 6, 3};
  }
  workflow.response_tokens = lengths;
  return workflow;
}

TEST(Window, BeginsWithTheStalenessThatIsAllowed) {
  Workflow workflow = hex_grpo();
  for (const auto& [staleness, steps] : std::vector<std::pair<double, int>>{{0, 1}, {0.5, 2}, {1, 2}, {4, 5}}) {
    workflow.staleness = staleness;
    EXPECT_EQ(first_window_steps(workflow), steps);
  }
}

TEST(Window, FixedLengthsNeedNone) { EXPECT_EQ(windowed(hex_grpo(), 4, 1), hex_grpo()); }

TEST(Window, GrowsTowardsTheDistribution) {
  for (const LengthKind kind : {LengthKind::lognormal, LengthKind::empirical}) {
    const Workflow workflow = with_lengths(kind);
    const Lengths& lengths = workflow.response_tokens;
    const double deviation =
        std::sqrt(lengths.mean_square_tokens() - lengths.mean_tokens() * lengths.mean_tokens());
    for (const int steps : {1, 16, 256}) {
      constexpr double kSigmas = 4;  // of the mean of so many samples
      const double samples = static_cast<double>(steps) * workflow.sequences();
      const Lengths sampled = windowed(workflow, steps, 3).response_tokens;
      EXPECT_NEAR(sampled.mean_tokens(), lengths.mean_tokens(), kSigmas * deviation / std::sqrt(samples));
      EXPECT_LE(sampled.tokens.size(), 64U);
      EXPECT_LE(sampled.max_tokens(), lengths.max_tokens());
    }
    EXPECT_NEAR(windowed(workflow, 256, 3).response_tokens.mean_square_tokens(), lengths.mean_square_tokens(),
                0.03 * lengths.mean_square_tokens());
  }
}

// A short window does not see the longest responses.
TEST(Window, SeesTheTailWhenItIsLong) {
  Workflow workflow = with_lengths(LengthKind::lognormal);
  workflow.response_tokens.max = 1e6;
  const double of_few = windowed(workflow, 1, 3).response_tokens.max_tokens();
  const double of_many = windowed(workflow, 256, 3).response_tokens.max_tokens();
  EXPECT_GT(of_many, 1.3 * of_few);
  EXPECT_NEAR(of_many, workflow.response_tokens.longest_of(256 * 512), 0.5 * of_many);
}

TEST(Window, FollowsTheSeed) {
  const Workflow workflow = with_lengths(LengthKind::lognormal);
  EXPECT_EQ(windowed(workflow, 2, 9), windowed(workflow, 2, 9));
  EXPECT_NE(windowed(workflow, 2, 9), windowed(workflow, 2, 10));
}

}  // namespace
}  // namespace sextant::test
