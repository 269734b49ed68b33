// Two things beside each other: limits, bounds and monotony of terms/smooth.h.
#include "costmodel/terms/smooth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sextant::terms {
namespace {

TEST(Smooth, BesideByHand) {
  EXPECT_EQ(beside(3.0, 4.0, 0.0), 7);
  EXPECT_DOUBLE_EQ(beside(3.0, 4.0, 0.5), 5);  // p = 1 / (1 - 0.5) = 2
  EXPECT_DOUBLE_EQ(beside(7.0, 24.0, 0.5), 25);
  EXPECT_DOUBLE_EQ(beside(1.0, 1.0, 0.75), std::pow(2.0, 0.25));  // p = 4
}

TEST(Smooth, BesideFallsFromTheSumWithTheSlopeOfTheNorm) {
  // d/dp of the p-norm at p = 1: a ln(a / (a + b)) + b ln(b / (a + b)).
  constexpr double kStep = 1e-6;
  const double slope = 3 * std::log(3.0 / 7) + 4 * std::log(4.0 / 7);
  EXPECT_NEAR((beside(3.0, 4.0, kStep) - beside(3.0, 4.0, 0.0)) / kStep, slope, 1e-4);
}

TEST(Smooth, NothingBesideChangesNothing) {
  for (const double sharing : {0.0, 0.3, 0.95, 1.0}) {
    EXPECT_EQ(beside(3.0, 0.0, sharing), 3);
    EXPECT_EQ(beside(0.0, 3.0, sharing), 3);
    EXPECT_EQ(beside(0.0, 0.0, sharing), 0);
  }
}

TEST(Smooth, FullSharingIsNearlyTheLonger) {
  // At most 2^(1/20) above it, where the two are alike; nothing where one is much longer.
  EXPECT_DOUBLE_EQ(beside(1.0, 1.0, 1.0), std::pow(2.0, 1.0 / 20));
  EXPECT_NEAR(beside(2.0, 1.0, 1.0), 2, 2e-6 / 20);  // 2 (1 + 2^-20)^(1/20)
  EXPECT_DOUBLE_EQ(beside(1e6, 1.0, 1.0), 1e6);
}

TEST(Smooth, BesideLiesBetweenMaximumAndSumAndFallsWithSharing) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-6, 6), share(0, 1);
  constexpr double kRounding = 1e-12;
  for (int i = 0; i < 2000; ++i) {
    const double a = std::pow(10, exponent(random)), b = std::pow(10, exponent(random));
    double low = share(random), high = share(random);
    if (high < low) std::swap(low, high);
    const double little = beside(a, b, low), much = beside(a, b, high);
    EXPECT_LE(little, (a + b) * (1 + kRounding));
    EXPECT_GE(much, std::max(a, b) * (1 - kRounding));
    EXPECT_LE(much, little * (1 + kRounding)) << a << " " << b << " " << low << " " << high;
    EXPECT_EQ(much, beside(b, a, high));
    EXPECT_GE(beside(a, b * 1.01, high), much * (1 - kRounding));
  }
}

TEST(Smooth, ExposedByHand) {
  EXPECT_EQ(exposed(3.0, 4.0, 0.0), 3);
  EXPECT_EQ(exposed(3.0, 0.0, 1.0), 3);
  EXPECT_EQ(exposed(0.0, 4.0, 1.0), 0);
  // Alike: all but 2^(-1/4) of it is hidden.
  EXPECT_DOUBLE_EQ(exposed(1.0, 1.0, 1.0), 1 - std::pow(2.0, -0.25));
  EXPECT_DOUBLE_EQ(exposed(5.0, 5.0, 0.4), 5 * (1 - 0.4 * std::pow(2.0, -0.25)));
}

TEST(Smooth, ExposedLimits) {
  EXPECT_DOUBLE_EQ(exposed(2.0, 1e6, 0.7), 0.3 * 2);        // long work hides the share that overlaps
  EXPECT_DOUBLE_EQ(exposed(1e6, 2.0, 0.5), 1e6 - 0.5 * 2);  // short work hides itself at most
}

TEST(Smooth, ExposedFallsWithWorkAndOverlapAndNeverBelowTheRest) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> exponent(-6, 6), share(0, 1);
  constexpr double kRounding = 1e-12;
  for (int i = 0; i < 2000; ++i) {
    const double transfer = std::pow(10, exponent(random)), work = std::pow(10, exponent(random));
    const double overlap = share(random), left = exposed(transfer, work, overlap);
    EXPECT_GE(left, (1 - overlap) * transfer * (1 - kRounding));
    EXPECT_LE(left, transfer);
    EXPECT_LE(exposed(transfer, work * 1.1, overlap), left + kRounding * transfer);
    EXPECT_LE(exposed(transfer, work, std::min(1.0, overlap + 0.1)), left + kRounding * transfer);
    EXPECT_GE(exposed(transfer * 1.1, work, overlap), left - kRounding * transfer);
  }
}

}  // namespace
}  // namespace sextant::terms
