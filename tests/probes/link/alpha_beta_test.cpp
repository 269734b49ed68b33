#include "probes/link/alpha_beta.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "probes/harness/random_data.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

constexpr double kAlpha_s = 2e-6;
constexpr double kBeta = 12e9;
// The sums of squares span twelve orders of magnitude, of which half of a double's digits remain.
constexpr double kExact = 1e-9;

std::vector<TimedMessage> line(const std::vector<double>& sizes) {
  std::vector<TimedMessage> messages;
  messages.reserve(sizes.size());
  for (const double bytes : sizes) messages.push_back({bytes, kAlpha_s + bytes / kBeta});
  return messages;
}

TEST(FitAlphaBeta, RecoversALineExactly) {
  const auto messages = line({1, 8, 4096, 65536, 1 << 20, 16 << 20});
  const auto fit = fit_alpha_beta(messages);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->latency_s / kAlpha_s, 1, kExact);
  EXPECT_NEAR(fit->bytes_per_s / kBeta, 1, kExact);
  EXPECT_NEAR(fit->rms_error_fraction, 0, kExact);
  EXPECT_NEAR(fit->latency_spread_fraction, 0, kExact);
  EXPECT_NEAR(fit->bytes_per_s_spread_fraction, 0, kExact);
  EXPECT_NEAR(fit->time_s(1e6), kAlpha_s + 1e6 / kBeta, kExact);
}

TEST(FitAlphaBeta, TwoPointsAreALine) {
  const auto fit = fit_alpha_beta(line({8, 1 << 20}));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->latency_s / kAlpha_s, 1, kExact);
  EXPECT_EQ(fit->latency_spread_fraction, 0);
}

// The largest message is 30 % slow: with relative errors the latency hardly notices.
TEST(FitAlphaBeta, SmallMessagesDecideTheLatency) {
  auto messages = line({1, 8, 64, 65536, 1 << 20, 16 << 20});
  messages.back().time_s *= 1.3;
  const auto fit = fit_alpha_beta(messages);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->latency_s / kAlpha_s, 1, 0.05);
  EXPECT_GT(fit->bytes_per_s_spread_fraction, 0.05);
}

// In how many of 400 fits to noisy points the intervals cover latency and rate; the seeds are fixed.
std::pair<int, int> covered_of_400(Confidence confidence) {
  std::pair<int, int> covered{0, 0};
  for (std::uint64_t trial = 1; trial <= 400; ++trial) {
    RandomStream random(trial);
    auto messages = line({1, 8, 512, 4096, 65536, 1 << 18, 1 << 20, 16 << 20});
    for (TimedMessage& message : messages) {
      double noise = 0;  // nearly normal: the sum of twelve uniform numbers
      for (int part = 0; part < 12; ++part) noise += random.uniform() - 0.5;
      message.time_s *= 1 + 0.05 * noise;
    }
    const auto fit = fit_alpha_beta(messages, confidence).value();
    covered.first += std::abs(fit.latency_s - kAlpha_s) <= fit.latency_spread_fraction * fit.latency_s;
    covered.second += std::abs(fit.bytes_per_s - kBeta) <= fit.bytes_per_s_spread_fraction * fit.bytes_per_s;
  }
  return covered;
}

TEST(FitAlphaBeta, IntervalsCoverTheTruthAsOftenAsTheySay) {
  for (const auto& [confidence, minimum, maximum] :
       {std::tuple{Confidence::percent_95, 360, 399}, std::tuple{Confidence::percent_90, 340, 379}}) {
    const auto [latency, rate] = covered_of_400(confidence);
    EXPECT_GT(latency, minimum);
    EXPECT_GT(rate, minimum);
    EXPECT_LE(latency, maximum);  // an interval that always covers is too wide
    EXPECT_LE(rate, maximum);
  }
}

TEST(FitAlphaBeta, WhatIsNoLineHasNoFit) {
  EXPECT_FALSE(fit_alpha_beta({}).has_value());
  EXPECT_FALSE(fit_alpha_beta(std::vector<TimedMessage>{{8, 1e-6}}).has_value());
  EXPECT_FALSE(fit_alpha_beta(std::vector<TimedMessage>{{8, 1e-6}, {8, 2e-6}}).has_value());
  EXPECT_FALSE(fit_alpha_beta(std::vector<TimedMessage>{{8, 2e-6}, {1 << 20, 1e-6}}).has_value());
  EXPECT_FALSE(fit_alpha_beta(std::vector<TimedMessage>{{8, 0}, {1 << 20, 1e-6}}).has_value());
}

// Faster than proportional growth would make the latency negative.
TEST(FitAlphaBeta, LatencyIsNeverNegative) {
  const std::vector<TimedMessage> messages = {{1000, 1e-6}, {2000, 4e-6}};
  const auto fit = fit_alpha_beta(messages);
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->latency_s, 1e-6);
}

}  // namespace
}  // namespace sextant
