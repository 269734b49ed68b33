// The batch by length: by hand, against the distribution, and against drawn batches.
#include "documents/sorted_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace sextant {
namespace {

Lengths lognormal(double median, double sigma, double max) {
  return {LengthKind::lognormal, {}, {}, median, sigma, max};
}

Workflow batch_of(int prompts, const Lengths& prompt, const Lengths& response) {
  Workflow workflow;
  workflow.prompts = prompts;
  workflow.prompt_tokens = prompt;
  workflow.response_tokens = response;
  return workflow;
}

std::vector<Lengths> all_kinds() {
  Lengths many{LengthKind::empirical, {}, {}, 0, 0, 0};
  for (int i = 1; i <= 1000; ++i) {
    many.tokens.push_back(i * 3);
    many.weights.push_back(i % 7);
  }
  return {fixed_length(100),
          {LengthKind::empirical, {2, 6, 9}, {1, 1, 0}, 0, 0, 0},
          many,
          lognormal(800, 0.6, 1500),
          lognormal(800, 0.6, 1e9),
          lognormal(3, 10, 3),
          lognormal(50, 0, 100),
          lognormal(100, 2.5, 20000)};
}

TEST(LengthCells, AddUpToTheDistribution) {
  for (const Lengths& lengths : all_kinds()) {
    for (const int maximum : {1, 3, 64, 256}) {
      double mass = 0, mean = 0, square = 0, before = 0;
      for (const LengthCell& cell : lengths.cells(maximum)) {
        mass += cell.mass;
        mean += cell.mass * cell.mean;
        square += cell.mass * cell.mean_square;
        EXPECT_GT(cell.mass, 0);
        EXPECT_GE(cell.mean, before * (1 - 1e-9));
        before = cell.mean;
      }
      EXPECT_NEAR(mass, 1, 1e-9);
      EXPECT_NEAR(mean, lengths.mean_tokens(), 1e-7 * mean);
      EXPECT_NEAR(square, lengths.mean_square_tokens(), 1e-7 * square);
    }
  }
}

TEST(SortedLengths, ByHand) {
  Workflow workflow = batch_of(4, fixed_length(3), {LengthKind::empirical, {2, 6}, {1, 1}, 0, 0, 0});
  const SortedLengths sorted(workflow);
  EXPECT_EQ(sorted.sequences(), 4);
  EXPECT_DOUBLE_EQ(sorted.tokens(0, 2), 10);
  EXPECT_DOUBLE_EQ(sorted.mean_tokens(2, 4), 9);
  EXPECT_DOUBLE_EQ(sorted.mean_tokens(1, 3), 7);
  EXPECT_DOUBLE_EQ(sorted.mean_square_tokens(1, 3), 53);
  EXPECT_EQ(sorted.longest(2), 5);
  EXPECT_EQ(sorted.longest(4), 9);
  EXPECT_FALSE(sorted.is_fixed());
  // Tokens that tools return are part of every sequence. A quantile may lie within one sequence.
  workflow.turns = 3;
  workflow.observation_tokens_per_turn = 5;
  workflow.prompts = 3;
  const SortedLengths with_tools(workflow);
  EXPECT_DOUBLE_EQ(with_tools.tokens(0, 1), 15);
  EXPECT_DOUBLE_EQ(with_tools.tokens(1, 2), 17);
  EXPECT_DOUBLE_EQ(with_tools.square_tokens(1, 2), 0.5 * (15 * 15 + 19 * 19));
  EXPECT_EQ(with_tools.longest(2), 19);
}

TEST(SortedLengths, AllTogetherAreTheDistribution) {
  for (const Lengths& prompt : all_kinds()) {
    for (const Lengths& response : all_kinds()) {
      const SortedLengths sorted(batch_of(37, prompt, response));
      const double mean = prompt.mean_tokens() + response.mean_tokens();
      const double square = prompt.mean_square_tokens() + 2 * prompt.mean_tokens() * response.mean_tokens() +
                            response.mean_square_tokens();
      EXPECT_NEAR(sorted.mean_tokens(0, 37), mean, 1e-6 * mean);
      EXPECT_NEAR(sorted.mean_square_tokens(0, 37), square, 1e-6 * square);
      EXPECT_NEAR(sorted.longest(37), prompt.max_tokens() + response.max_tokens(), 1e-6 * sorted.longest(37));
      for (int k = 1; k < 37; ++k) {
        EXPECT_GE(sorted.tokens(k, k + 1), sorted.tokens(k - 1, k) * (1 - 1e-12));
        EXPECT_GE(sorted.longest(k + 1), sorted.longest(k));
        EXPECT_GE(sorted.longest(k) * (1 + 1e-9), sorted.tokens(k - 1, k));
      }
    }
  }
  EXPECT_TRUE(SortedLengths(batch_of(8, fixed_length(3), fixed_length(5))).is_fixed());
}

// A place stands for several sequences.
TEST(SortedLengths, PartsOfAVeryLargeBatchAreThoseOfASmallerOne) {
  const Lengths prompt = lognormal(300, 0.7, 2000), response = lognormal(700, 0.9, 4096);
  const SortedLengths large(batch_of(9'000'001, prompt, response)), small(batch_of(10'000, prompt, response));
  const auto at = [](double share, const SortedLengths& of) {
    return static_cast<int>(share * of.sequences());
  };
  EXPECT_EQ(large.sequences(), 9'000'001);
  for (const double from : {0.0, 0.2, 0.5, 0.9}) {
    const double mean = small.mean_tokens(at(from, small), at(from + 0.1, small));
    EXPECT_NEAR(large.mean_tokens(at(from, large), at(from + 0.1, large)), mean, 2e-3 * mean);
    const double square = small.mean_square_tokens(at(from, small), at(from + 0.1, small));
    EXPECT_NEAR(large.mean_square_tokens(at(from, large), at(from + 0.1, large)), square, 2e-3 * square);
    EXPECT_NEAR(large.longest(at(from + 0.1, large)), small.longest(at(from + 0.1, small)), 2);
  }
  EXPECT_EQ(large.longest(large.sequences()), 2000 + 4096);
  EXPECT_GT(large.tokens(0, 1), 0);
}

double drawn(const Lengths& lengths, std::mt19937_64& random) {
  std::lognormal_distribution<double> draw(std::log(lengths.median), lengths.sigma);
  return std::min(draw(random), lengths.max);
}

TEST(SortedLengths, PartsAreThoseOfALargeBatch) {
  const Lengths prompt = lognormal(300, 0.7, 2000), response = lognormal(700, 0.9, 4096);
  std::mt19937_64 random(7);
  std::vector<double> batch(400'000);
  for (double& sequence : batch) sequence = drawn(prompt, random) + drawn(response, random);
  std::sort(batch.begin(), batch.end());
  const SortedLengths sorted(batch_of(400, prompt, response));
  EXPECT_EQ(sorted.longest(400), 2000 + 4096);
  for (const auto& [first, last] : {std::pair(0, 100), {100, 300}, {300, 400}, {390, 400}, {0, 390}}) {
    const auto from = batch.begin() + first * 1000, to = batch.begin() + last * 1000;
    const double mean = std::accumulate(from, to, 0.0) / (last - first) / 1000;
    EXPECT_NEAR(sorted.mean_tokens(first, last), mean, 0.005 * mean) << first << " " << last;
    if (last == 400) continue;
    EXPECT_NEAR(sorted.longest(last), *(to - 1), 0.02 * *(to - 1)) << last;
  }
}

}  // namespace
}  // namespace sextant
