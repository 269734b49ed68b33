#include "costmodel/vocabulary/lengths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/core/expect_error.h"

namespace sextant {
namespace {

Lengths parse(const std::string& text) {
  const Json json = parse_json(text);
  return Lengths::parse(JsonView(json, "/l"));
}

std::string refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse(text); });
}

TEST(LengthsTest, Fixed) {
  const Lengths lengths = parse(R"({"kind": "fixed", "tokens": 1024})");
  EXPECT_EQ(lengths, fixed_length(1024));
  EXPECT_EQ(lengths.mean_tokens(), 1024);
  EXPECT_EQ(lengths.max_tokens(), 1024);
}

TEST(LengthsTest, Empirical) {
  const Lengths lengths = parse(R"({"kind": "empirical", "tokens": [100, 200, 900], "weights": [1, 3, 0]})");
  EXPECT_DOUBLE_EQ(lengths.mean_tokens(), 175);
  EXPECT_EQ(lengths.max_tokens(), 200);  // nothing is ever 900 long
  EXPECT_DOUBLE_EQ(parse(R"({"kind": "empirical", "tokens": [100, 200]})").mean_tokens(), 150);
}

TEST(LengthsTest, LognormalMeanIsThatOfItsDraws) {
  const Lengths lengths = parse(R"({"kind": "lognormal", "median": 800, "sigma": 0.6, "max": 1500})");
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
  EXPECT_DOUBLE_EQ(parse(R"({"kind": "lognormal", "median": 800, "sigma": 0, "max": 1500})").mean_tokens(),
                   800);
  EXPECT_EQ(parse(R"({"kind": "lognormal", "median": 800, "sigma": 0, "max": 1500})").max_tokens(), 800);
  const double untruncated =
      parse(R"({"kind": "lognormal", "median": 800, "sigma": 0.5, "max": 1e12})").mean_tokens();
  EXPECT_NEAR(untruncated, 800 * std::exp(0.125), 1e-6);
  const double cut = parse(R"({"kind": "lognormal", "median": 1, "sigma": 10, "max": 1})").mean_tokens();
  EXPECT_GT(cut, 0.5);  // half of the mass lies at 1
  EXPECT_LT(cut, 1);
}

TEST(LengthsTest, Refuses) {
  EXPECT_EQ(refusal(R"({"kind": "fixed", "tokens": -1})"), "/l/tokens: expected a number >= 0, got -1");
  EXPECT_EQ(refusal(R"({"kind": "uniform"})"),
            "/l/kind: expected one of fixed, empirical, lognormal, got \"uniform\"");
  EXPECT_EQ(refusal(R"({"kind": "fixed", "tokens": 1, "max": 2})"),
            "/l/max: unknown member; known ones are kind, tokens");
  EXPECT_EQ(refusal(R"({"kind": "empirical", "tokens": [2, 1], "weights": [1, 1]})"),
            "/l/tokens/1: expected lengths in ascending order");
  EXPECT_EQ(refusal(R"({"kind": "empirical", "tokens": []})"), "/l/tokens: expected at least one length");
  EXPECT_EQ(refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [1]})"),
            "/l/weights: expected 2 weights, one for each length, got 1");
  EXPECT_EQ(refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [0, 0]})"),
            "/l/weights: expected weights with a sum that is finite and > 0");
  EXPECT_EQ(refusal(R"({"kind": "empirical", "tokens": [1, 2], "weights": [1e308, 1e308]})"),
            "/l/weights: expected weights with a sum that is finite and > 0");
  EXPECT_EQ(refusal(R"({"kind": "lognormal", "median": 8, "sigma": 0.5, "max": 4})"),
            "/l/max: expected at least the median");
  EXPECT_EQ(refusal(R"({"kind": "lognormal", "median": 8, "sigma": 11, "max": 40})"),
            "/l/sigma: expected a number from 0 to 10: the deviation of the logarithm of the length");
}

}  // namespace
}  // namespace sextant
