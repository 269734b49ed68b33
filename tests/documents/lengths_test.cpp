#include "sextant/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/json_value.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

Lengths parse_lengths(const std::string& text) {
  const Json json = parse_json(text);
  return Lengths::parse(JsonView(json, "/l"));
}

std::string lengths_refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse_lengths(text); });
}

TEST(LengthsTest, Fixed) {
  const Lengths lengths = parse_lengths(R"({"kind": "fixed", "tokens": 1024})");
  EXPECT_EQ(lengths, fixed_length(1024));
  EXPECT_EQ(lengths.mean_tokens(), 1024);
  EXPECT_EQ(lengths.max_tokens(), 1024);
}

TEST(LengthsTest, Empirical) {
  const Lengths lengths =
      parse_lengths(R"({"kind": "empirical", "tokens": [100, 200, 900], "weights": [1, 3, 0]})");
  EXPECT_DOUBLE_EQ(lengths.mean_tokens(), 175);
  EXPECT_EQ(lengths.max_tokens(), 200);  // nothing is ever 900 long
  EXPECT_DOUBLE_EQ(parse_lengths(R"({"kind": "empirical", "tokens": [100, 200]})").mean_tokens(), 150);
}

TEST(LengthsTest, LognormalMeanIsThatOfItsDraws) {
  const Lengths lengths = parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 1500})");
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> draw(std::log(800.0), 0.6);
  constexpr int kDraws = 1000000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += std::min(draw(random), 1500.0);
  constexpr double kFourSigma = 4 * 400.0 / 1000.0;  // the deviation of a draw is below 400
  EXPECT_NEAR(lengths.mean_tokens(), sum / kDraws, kFourSigma);
  EXPECT_EQ(lengths.max_tokens(), 1500);
}

TEST(LengthsTest, LognormalLimits) {
  EXPECT_DOUBLE_EQ(
      parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0, "max": 1500})").mean_tokens(), 800);
  EXPECT_EQ(parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0, "max": 1500})").max_tokens(),
            800);
  const double untruncated =
      parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.5, "max": 1e9})").mean_tokens();
  EXPECT_NEAR(untruncated, 800 * std::exp(0.125), 1e-6);
  const double cut =
      parse_lengths(R"({"kind": "lognormal", "median": 1, "sigma": 10, "max": 1})").mean_tokens();
  EXPECT_GT(cut, 0.5);  // half of the mass lies at 1
  EXPECT_LT(cut, 1);
}

// Draws of two of three lengths, one by one.
TEST(LengthsTest, LongestOfEmpiricalIsThatOfAllDraws) {
  const Lengths lengths =
      parse_lengths(R"({"kind": "empirical", "tokens": [100, 200, 900], "weights": [1, 2, 1]})");
  EXPECT_DOUBLE_EQ(lengths.longest_of(1), lengths.mean_tokens());
  const std::vector<double> each{100, 200, 200, 900};  // alike
  double two = 0, three = 0;
  for (const double a : each) {
    for (const double b : each) {
      two += std::max(a, b) / 16;
      for (const double c : each) three += std::max({a, b, c}) / 64;
    }
  }
  EXPECT_DOUBLE_EQ(lengths.longest_of(2), two);
  EXPECT_DOUBLE_EQ(lengths.longest_of(3), three);
  EXPECT_NEAR(lengths.longest_of(1e4), 900, 1e-9);
  EXPECT_EQ(fixed_length(512).longest_of(7.5), 512);
}

// E[max of n draws from 1 .. N] = N - (sum of k^n over k < N) / N^n; of two dice 161 / 36.
TEST(LengthsTest, LongestOfTwoDice) {
  const Lengths die = parse_lengths(R"({"kind": "empirical", "tokens": [1, 2, 3, 4, 5, 6]})");
  EXPECT_DOUBLE_EQ(die.longest_of(2), 161.0 / 36);
  EXPECT_DOUBLE_EQ(die.longest_of(3), 6 - 225.0 / 216);  // 1 + 8 + 27 + 64 + 125
}

// The documented accuracy of the quadrature.
constexpr double kQuadrature = 1e-6;

TEST(LengthsTest, LongestOfTwoLognormalsInClosedForm) {
  for (const double sigma : {0.1, 0.6, 1.5}) {
    Lengths lengths;
    lengths.kind = LengthKind::lognormal;
    lengths.median = 800;
    lengths.sigma = sigma;
    lengths.max = 1e12;
    const double mean = 800 * std::exp(0.5 * sigma * sigma);
    EXPECT_NEAR(lengths.longest_of(1) / mean, 1, kQuadrature) << sigma;
    // E[max(X, Y)] = 2 E[X] Phi(sigma / sqrt 2).
    EXPECT_NEAR(lengths.longest_of(2) / (mean * std::erfc(-sigma / 2)), 1, kQuadrature) << sigma;
  }
}

// The longest of a truncated distribution against a sum of 1 - F^n in small steps.
TEST(LengthsTest, LongestOfTruncatedLognormal) {
  const Lengths lengths = parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 1500})");
  for (const double n : {1.0, 2.0, 17.5, 256.0}) {
    double sum = 0;
    constexpr int kSteps = 200000;
    for (int i = 0; i < kSteps; ++i) {
      const double x = (i + 0.5) * 1500 / kSteps;
      sum += (1 - std::pow(0.5 * std::erfc(-std::log(x / 800) / 0.6 / std::sqrt(2.0)), n)) * 1500 / kSteps;
    }
    EXPECT_NEAR(lengths.longest_of(n) / sum, 1, kQuadrature) << n;
  }
  EXPECT_NEAR(lengths.longest_of(1) / lengths.mean_tokens(), 1, kQuadrature);
  EXPECT_NEAR(lengths.longest_of(1e6), 1500, 1e-3);
}

TEST(LengthsTest, LongestOfGrowsWithTheBatchUpToTheLongest) {
  for (const char* text : {R"({"kind": "lognormal", "median": 800, "sigma": 1.2, "max": 8000})",
                           R"({"kind": "empirical", "tokens": [10, 700, 4000], "weights": [5, 3, 1]})"}) {
    const Lengths lengths = parse_lengths(text);
    double before = lengths.mean_tokens() * (1 - kQuadrature);
    for (double n = 1; n < 1e5; n *= 1.7) {
      const double longest = lengths.longest_of(n);
      EXPECT_GE(longest, before) << n;
      EXPECT_LE(longest, lengths.max_tokens() * (1 + kQuadrature)) << n;
      before = longest * (1 - kQuadrature);
    }
  }
}

TEST(LengthsTest, MeanSquares) {
  EXPECT_EQ(fixed_length(12).mean_square_tokens(), 144);
  EXPECT_EQ(fixed_length(0).mean_square_tokens(), 0);
  const Lengths empirical = parse_lengths(R"({"kind": "empirical", "tokens": [100, 200], "weights": [1, 3]})");
  EXPECT_DOUBLE_EQ(empirical.mean_square_tokens(), (1e4 + 3 * 4e4) / 4);
  // Untruncated: median^2 e^(2 sigma^2).
  const Lengths lognormal = parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.5, "max": 1e9})");
  EXPECT_NEAR(lognormal.mean_square_tokens() / (800.0 * 800 * std::exp(0.5)), 1, 1e-9);
  EXPECT_EQ(parse_lengths(R"({"kind": "lognormal", "median": 8, "sigma": 0, "max": 9})").mean_square_tokens(),
            64);
}

TEST(LengthsTest, MeanSquareOfATruncatedLognormalIsThatOfItsDraws) {
  const Lengths lengths = parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 1500})");
  std::mt19937_64 random(13);
  std::lognormal_distribution<double> draw(std::log(800.0), 0.6);
  constexpr int kDraws = 1000000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = std::min(draw(random), 1500.0);
    sum += x * x;
  }
  constexpr double kFourSigma = 4 * 1500.0 * 1500.0 / 2 / 1000.0;  // a deviation is at most half the range
  EXPECT_NEAR(lengths.mean_square_tokens(), sum / kDraws, kFourSigma);
}

TEST(LengthsTest, MostLiveTokens) {
  EXPECT_EQ(fixed_length(5).max_live(3), 8);
  const Lengths dice = parse_lengths(R"({"kind": "empirical", "tokens": [2, 6], "weights": [1, 1]})");
  EXPECT_DOUBLE_EQ(dice.max_live(3), 5);  // before the short ones end: 3 + 2; later half of 3 + 6
  EXPECT_DOUBLE_EQ(dice.max_live(0), 3);  // half of 6
  EXPECT_DOUBLE_EQ(dice.max_live(100), 102);
  const Lengths lognormal = parse_lengths(R"({"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 4096})");
  // The tallest of P(X > x) x, by steps of one token.
  double maximum = 0;
  for (int x = 1; x < 4096; ++x) {
    maximum = std::max(maximum, 0.5 * std::erfc(std::log(x / 800.0) / (0.6 * std::sqrt(2.0))) * x);
  }
  EXPECT_NEAR(lognormal.max_live(0), maximum, 1e-3 * maximum);
  EXPECT_NEAR(lognormal.max_live(1e6), 1e6, 100);  // the base of all of them, whatever they answer
}

TEST(LengthsTest, Refuses) {
  EXPECT_EQ(lengths_refusal(R"({"kind": "fixed", "tokens": -1})"), "/l/tokens: expected a number >= 0, got -1");
  EXPECT_EQ(lengths_refusal(R"({"kind": "fixed", "tokens": 1e20})"), "/l/tokens: expected at most 1e9 tokens");
  EXPECT_EQ(lengths_refusal(R"({"kind": "lognormal", "median": 8, "sigma": 1, "max": 2e9})"),
            "/l/max: expected at most 1e9 tokens");
  EXPECT_EQ(lengths_refusal(R"({"kind": "uniform"})"),
            "/l/kind: expected one of fixed, empirical, lognormal, got \"uniform\"");
  EXPECT_EQ(lengths_refusal(R"({"kind": "fixed", "tokens": 1, "max": 2})"),
            "/l/max: unknown member; known ones are kind, tokens");
  EXPECT_EQ(lengths_refusal(R"({"kind": "empirical", "tokens": [2, 1], "weights": [1, 1]})"),
            "/l/tokens/1: expected lengths in ascending order");
  EXPECT_EQ(lengths_refusal(R"({"kind": "empirical", "tokens": []})"),
            "/l/tokens: expected at least one length");
  EXPECT_EQ(lengths_refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [1]})"),
            "/l/weights: expected 2 weights, one for each length, got 1");
  EXPECT_EQ(lengths_refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [0, 0]})"),
            "/l/weights: expected weights with a sum that is finite and > 0");
  EXPECT_EQ(lengths_refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [1e308, 1e308]})"),
            "/l/weights/0: expected a number of at most 1e24, got 1e+308");
  EXPECT_EQ(lengths_refusal(R"({"kind": "lognormal", "median": 8, "sigma": 0.5, "max": 4})"),
            "/l/max: expected at least the median");
  EXPECT_EQ(lengths_refusal(R"({"kind": "lognormal", "median": 8, "sigma": 11, "max": 40})"),
            "/l/sigma: expected a number from 0 to 10: the deviation of the logarithm of the length");
}

}  // namespace
}  // namespace sextant
