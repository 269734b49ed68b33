#include "probes/network/rate_meter.h"

#include <gtest/gtest.h>

#include <functional>

#include "probes/harness/random_data.h"

namespace sextant {
namespace {

constexpr double kRate = 1e8;
constexpr double kEvery_s = 0.005;  // between counts

RateMeterOptions quick_meter(int streams = 1) {
  RateMeterOptions options;
  options.streams = streams;
  return options;
}

// Counts of a stream whose rate at each moment is given, until `seconds`.
void feed(RateMeter& meter, int stream, double seconds, const std::function<double(double)>& rate) {
  double bytes = 0;
  for (double t = 0; t < seconds; t += kEvery_s) {
    meter.add(stream, 100 + t, static_cast<std::uint64_t>(bytes));
    bytes += rate(t) * kEvery_s;
  }
}

TEST(RateMeter, KnowsNothingBeforeItsWarmUpIsOver) {
  RateMeter meter(quick_meter());
  EXPECT_EQ(meter.rate().bins, 0);
  feed(meter, 0, 0.3, [](double) { return kRate; });
  EXPECT_EQ(meter.rate().bins, 0);
  EXPECT_FALSE(meter.rate().is_stable);
}

TEST(RateMeter, ASteadyStreamIsStableAfterTenBins) {
  RateMeter meter(quick_meter());
  feed(meter, 0, 0.3 + 0.5 + 0.02, [](double) { return kRate; });
  const MeasuredRate rate = meter.rate();
  EXPECT_TRUE(rate.is_stable);
  EXPECT_EQ(rate.bins, 10);
  EXPECT_NEAR(rate.bytes_per_s / kRate, 1, 1e-6);
  EXPECT_NEAR(rate.slowest_bytes_per_s / kRate, 1, 1e-6);
}

TEST(RateMeter, AddsStreamsAndNamesTheSlowest) {
  RateMeter meter(quick_meter(2));
  feed(meter, 0, 1, [](double) { return kRate; });
  EXPECT_EQ(meter.rate().bins, 0);  // of the other nothing is known
  feed(meter, 1, 1, [](double) { return kRate / 4; });
  EXPECT_NEAR(meter.rate().bytes_per_s / (1.25 * kRate), 1, 1e-6);
  EXPECT_NEAR(meter.rate().slowest_bytes_per_s / (kRate / 4), 1, 1e-6);
}

TEST(RateMeter, LeavesOutTheSlowStart) {
  RateMeter meter(quick_meter());
  feed(meter, 0, 2, [](double t) { return t < 0.9 ? kRate * 0.3 : kRate; });
  const MeasuredRate rate = meter.rate();
  EXPECT_TRUE(rate.is_stable);
  EXPECT_NEAR(rate.bytes_per_s / kRate, 1, 1e-6);
}

TEST(RateMeter, WhatStillGrowsIsNotStable) {
  RateMeter meter(quick_meter());
  feed(meter, 0, 1.2, [](double t) { return kRate * t * t; });
  EXPECT_TRUE(meter.rate().is_growing);
  EXPECT_FALSE(meter.rate().is_stable);
}

TEST(RateMeter, ANoisyStreamNeedsLonger) {
  RandomStream random(3);
  RateMeter few(quick_meter()), many(quick_meter());
  const auto noisy = [&](double) { return kRate * (0.5 + random.uniform()); };
  feed(few, 0, 0.85, noisy);
  EXPECT_FALSE(few.rate().is_stable);
  feed(many, 0, 60, noisy);
  EXPECT_TRUE(many.rate().is_stable);
  EXPECT_NEAR(many.rate().bytes_per_s / kRate, 1, 0.02);
}

TEST(RateMeter, AStreamThatStopsIsSeen) {
  RateMeter meter(quick_meter());
  feed(meter, 0, 4, [](double t) { return t < 1 ? kRate : 0; });
  EXPECT_EQ(meter.rate().bytes_per_s, 0);
  EXPECT_FALSE(meter.rate().is_stable);
}

}  // namespace
}  // namespace sextant
