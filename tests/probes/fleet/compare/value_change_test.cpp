#include "probes/fleet/compare/value_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sextant {
namespace {

ValueChange judged(const std::string& unit, std::optional<Quantity> before, std::optional<Quantity> after,
                   const ChangeRule& rule = {}) {
  return judge_changes({{"node a", "rate", unit, std::move(before), std::move(after)}}, rule).front();
}

TEST(ValueChange, KnowsWhichWayIsWorse) {
  const Quantity low = measured(90, 0), high = measured(100, 0);
  EXPECT_EQ(judged("flop/s", high, low).verdict, ChangeVerdict::worse);
  EXPECT_EQ(judged("bytes/s", low, high).verdict, ChangeVerdict::better);
  EXPECT_EQ(judged("bytes", high, low).verdict, ChangeVerdict::worse);
  EXPECT_EQ(judged("s", low, high).verdict, ChangeVerdict::worse);
  EXPECT_EQ(judged("s", high, low).verdict, ChangeVerdict::better);
}

// One comparison at 1 %: 2.575829 / 1.959964 = 1.314223 times hypot(0.03, 0.04) = 0.05.
TEST(ValueChange, NoiseIsThatOfBothWidened) {
  const double noise = std::expm1(1.314223 * 0.05);
  EXPECT_NEAR(judged("s", measured(1, 0.03), measured(1, 0.04)).noise_fraction.value(), noise, 1e-7);
  const auto verdict = [](double after) {
    return judged("s", measured(1, 0.03), measured(after, 0.04)).verdict;
  };
  EXPECT_EQ(verdict(1 + noise - 1e-6), ChangeVerdict::same) << "above the threshold, within noise";
  EXPECT_EQ(verdict(1 + noise + 1e-6), ChangeVerdict::worse);
  EXPECT_EQ(verdict(1 / (1 + noise + 1e-6)), ChangeVerdict::better);
}

TEST(ValueChange, ALargeChangeWithinNoiseCannotBeTold) {
  const ValueChange change = judged("bytes/s", measured(50e9, 0.5), measured(20e9, 0.5));
  EXPECT_EQ(change.verdict, ChangeVerdict::same);
  EXPECT_TRUE(is_hidden_by_noise(change, 0.05));
  EXPECT_FALSE(is_hidden_by_noise(judged("bytes/s", measured(50e9, 0.5), measured(49e9, 0.5)), 0.05));
  EXPECT_FALSE(is_hidden_by_noise(judged("bytes/s", measured(50e9, 0.01), measured(20e9, 0.01)), 0.05));
}

TEST(ValueChange, TheThresholdHoldsForWhatIsKnownWell) {
  const auto verdict = [](double after, double threshold) {
    return judged("bytes/s", measured(1, 1e-4), measured(after, 1e-4), {threshold, 0.01}).verdict;
  };
  EXPECT_EQ(verdict(0.96, 0.05), ChangeVerdict::same);
  EXPECT_EQ(verdict(0.96, 0.03), ChangeVerdict::worse);
  EXPECT_EQ(verdict(1.049, 0.05), ChangeVerdict::same);
  EXPECT_EQ(verdict(1.051, 0.05), ChangeVerdict::better);
}

TEST(ValueChange, WithoutASpreadTheThresholdDecidesAndItIsSaid) {
  const ValueChange change = judged("bytes/s", datasheet(100, "sheet"), measured(90, 0.5));
  EXPECT_EQ(change.verdict, ChangeVerdict::worse);
  EXPECT_FALSE(change.noise_fraction.has_value());
  EXPECT_EQ(change.note, "threshold alone: before is from a datasheet");
  EXPECT_EQ(judged("s", measured(1, 0), assumed(1)).note, "threshold alone: after is assumed");
  EXPECT_EQ(judged("s", assumed(1), assumed(1)).note, "threshold alone: both are assumed");
  Quantity bare = measured(1, 0);
  bare.spread_fraction.reset();
  EXPECT_EQ(judged("s", bare, assumed(1)).note,
            "threshold alone: before is without a spread, after is assumed");
}

TEST(ValueChange, EveryDeviceCounts) {
  EXPECT_EQ(judged("devices", assumed(1000), assumed(999)).verdict, ChangeVerdict::worse);
  EXPECT_EQ(judged("devices", assumed(1000), assumed(1000)).verdict, ChangeVerdict::same);
  EXPECT_EQ(judged("devices", assumed(8), assumed(0)).note, "the node is gone");
  EXPECT_EQ(judged("devices", assumed(0), assumed(8)).verdict, ChangeVerdict::better);
}

TEST(ValueChange, ALatencyOfZeroIsAnyNumbersMultiple) {
  EXPECT_EQ(judged("s", assumed(0), measured(1e-6, 0.01)).verdict, ChangeVerdict::worse);
  EXPECT_EQ(judged("s", assumed(0), assumed(0)).verdict, ChangeVerdict::same);
}

TEST(ValueChange, OneSideAloneIsMissing) {
  const ValueChange change = judged("flop/s", measured(1, 0), std::nullopt);
  EXPECT_EQ(change.verdict, ChangeVerdict::missing);
  EXPECT_EQ(change.note, "only before");
}

TEST(ValueChange, TheWorstComesFirst) {
  const auto changes = judge_changes({{"a", "same", "s", measured(1, 0), measured(1, 0)},
                                      {"a", "better", "s", measured(9, 0), measured(1, 0)},
                                      {"a", "worse", "s", measured(1, 0), measured(2, 0)},
                                      {"a", "worst", "bytes/s", measured(3, 0), measured(1, 0)}},
                                     {});
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0].what, "worst");
  EXPECT_EQ(changes[1].what, "worse");
  EXPECT_EQ(changes[2].what, "better");
}

// 100 numbers a document, 2,000 pairs of documents of the same machine: at most 1 % may name any.
TEST(ValueChange, WhatDidNotChangeHardlyEverLooksSo) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr double kSpread = 0.04;
  constexpr int kDocuments = 2000, kNumbers = 100;
  int alarms = 0;
  for (int document = 0; document < kDocuments; ++document) {
    const auto drawn = [&] { return measured(std::exp(kSpread / 1.959964 * normal(random)), kSpread); };
    std::vector<ValuePair> all;
    for (int i = 0; i < kNumbers; ++i) {
      all.push_back({"a", "b", "s", drawn(), drawn()});
      all.back().before->time_utc.reset();
    }
    const auto changes = judge_changes(all, {0, 0.01});
    alarms += changes.front().verdict != ChangeVerdict::same ? 1 : 0;
  }
  EXPECT_LE(alarms, 0.01 * kDocuments + 3.1 * std::sqrt(0.01 * kDocuments));
  EXPECT_GE(alarms, 4) << "the noise is wider than it need be";
}

}  // namespace
}  // namespace sextant
