#include "sextant/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace sextant {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 1.0);
  return out;
}

TEST(StatisticsTest, MeanAndDeviation) {
  const std::vector<double> samples{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(samples), 5);
  EXPECT_DOUBLE_EQ(standard_deviation(samples), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(standard_deviation(std::vector<double>{3}), 0);
}

TEST(StatisticsTest, MedianNeedsNoOrder) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

// Hyndman and Fan (1996), type 7: position (n - 1) q.
TEST(StatisticsTest, QuantileInterpolates) {
  const std::vector<double> samples{1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 3.7);
  EXPECT_EQ(quantile(samples, 0), 1);
  EXPECT_EQ(quantile(samples, 1), 4);
}

// Order statistics of the 95 % interval of the median; tables of the sign test have the same.
TEST(StatisticsTest, MedianIntervalIsThatOfTheTables) {
  struct Row {
    int n;
    double low;
    double high;
  };
  for (const Row row :
       {Row{1, 1, 1}, Row{5, 1, 5}, Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9}, Row{12, 3, 10},
        Row{15, 4, 12}, Row{20, 6, 15}, Row{25, 8, 18}, Row{30, 10, 21}, Row{50, 18, 33}}) {
    EXPECT_EQ(median_interval(one_to(row.n)), (Interval{row.low, row.high})) << row.n;
  }
}

TEST(StatisticsTest, MedianIntervalNarrowsWithLessConfidence) {
  EXPECT_EQ(median_interval(one_to(9), 0.5), (Interval{3, 7}));  // order statistics 4 to 6: 252 of 512 cases
  EXPECT_EQ(median_interval(one_to(9), 0.49), (Interval{4, 6}));
  EXPECT_EQ(median_interval(one_to(9), 0.999), (Interval{1, 9}));
}

TEST(StatisticsTest, MedianIntervalOfManySamplesFollowsTheNormalLimit) {
  constexpr int kSamples = 100001;
  const Interval interval = median_interval(one_to(kSamples));
  const double expected = 1.959964 * 0.5 * std::sqrt(kSamples);
  EXPECT_NEAR(interval.high - 50001, expected, 1.5);  // whole order statistics
  EXPECT_NEAR(50001 - interval.low, expected, 1.5);
}

TEST(StatisticsTest, MedianIntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> draw(1);
  constexpr int kTrials = 20000;
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(12);
    for (double& sample : samples) sample = draw(random);
    const Interval interval = median_interval(samples);
    held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high ? 1 : 0;
  }
  constexpr double kExact = 1 - 2 * (1 + 12 + 66) / 4096.0;  // orders 3 and 10 of 12
  constexpr double kFourSigma = 0.006;
  EXPECT_NEAR(static_cast<double>(held) / kTrials, kExact, kFourSigma);
}

TEST(StatisticsTest, RelativeSpread) {
  EXPECT_DOUBLE_EQ(relative_spread(one_to(9)), 3.0 / 5.0);
  EXPECT_EQ(relative_spread(std::vector<double>{0, 0}), 0);
  EXPECT_TRUE(std::isinf(relative_spread(std::vector<double>{-1, 0, 1})));
}

TEST(StatisticsTest, RankCorrelation) {
  EXPECT_DOUBLE_EQ(rank_correlation(one_to(5), std::vector<double>{1, 4, 9, 16, 25}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(one_to(3), std::vector<double>{3, 2, 1}), -1);
  EXPECT_EQ(rank_correlation(one_to(3), std::vector<double>{2, 2, 2}), 0);
  // Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: covariance 4.5, squares 4.5 and 5.
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 3, 2, 4}),
                   4.5 / std::sqrt(4.5 * 5.0));
}

TEST(StatisticsDeathTest, NoSamplesIsABug) {
  EXPECT_DEATH((void)median(std::vector<double>{}), "does not hold");
  EXPECT_DEATH((void)rank_correlation(one_to(2), one_to(3)), "does not hold");
}

TEST(MediansInRounds, ASlowRoundIsNobodysFault) {
  // The second round is twice as slow for all. The plain median of the second is 11.
  const std::vector<std::vector<double>> samples{{1, 2, 1}, {10, 20, 11}, {5, 10, 5}};
  const std::vector<double> medians = medians_in_rounds(samples);
  EXPECT_DOUBLE_EQ(medians[0], 1);
  EXPECT_DOUBLE_EQ(medians[1], 10);
  EXPECT_DOUBLE_EQ(medians[2], 5);
}

TEST(MediansInRounds, RoundsThatNotAllHaveAreLeftOut) {
  const std::vector<std::vector<double>> samples{{1, 3}, {2}};
  const std::vector<double> medians = medians_in_rounds(samples);
  EXPECT_DOUBLE_EQ(medians[1] / medians[0], 2);  // as in the round that both have
}

TEST(KendallTau, CountsPairsByHand) {
  const std::vector<double> a{1, 2, 3, 4}, b{1, 3, 2, 4};
  EXPECT_DOUBLE_EQ(kendall_tau(a, b), (5.0 - 1.0) / 6);  // one of six pairs the other way round
  const std::vector<double> tied{1, 1, 2, 3};
  EXPECT_DOUBLE_EQ(kendall_tau(a, tied), 5 / std::sqrt(6.0 * 5.0));
  EXPECT_EQ(kendall_tau(a, std::vector<double>{7, 7, 7, 7}), 0);
}

}  // namespace
}  // namespace sextant
