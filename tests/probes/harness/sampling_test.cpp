#include "probes/harness/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/probes/harness/fake_clock.h"

namespace sextant {
namespace {

using testing::HasSubstr;

SamplingOptions options() {
  SamplingOptions options = sampling_options(1.0, 0.02);
  options.warm_up_s = 0.05;
  return options;
}

// Each operation takes what the test says, on a clock of its own.
struct Machine {
  FakeClock clock;
  int operations = 0;
  std::function<double(int operation)> takes_s;

  TimedBatch batch() {
    return timed(clock, [this] { clock.advance(takes_s(operations++)); });
  }
};

TEST(TakeSamples, BatchesShortOperationsUntilASampleIsLongEnough) {
  Machine machine;
  machine.takes_s = [](int) { return 1e-6; };
  const Sampled sampled = take_samples(options(), machine.batch(), machine.clock);
  EXPECT_GE(sampled.operations_per_sample * 1e-6, 1e-4);
  EXPECT_LE(sampled.operations_per_sample * 1e-6, 2e-3);  // at most ten times more than needed
  EXPECT_NEAR(sampled.median_s, 1e-6, 1e-12);
  EXPECT_TRUE(sampled.is_converged);
}

TEST(TakeSamples, LongOperationsAreNotBatched) {
  Machine machine;
  machine.takes_s = [](int) { return 0.01; };
  EXPECT_EQ(take_samples(options(), machine.batch(), machine.clock).operations_per_sample, 1);
}

// Slow until 0.05 s have passed: the warm-up must swallow that.
TEST(TakeSamples, WarmUpIsNotAmongTheSamples) {
  Machine machine;
  machine.takes_s = [](int operation) { return operation < 3 ? 0.02 : 0.001; };
  const Sampled sampled = take_samples(options(), machine.batch(), machine.clock);
  EXPECT_THAT(sampled.samples_s, testing::Each(testing::DoubleNear(0.001, 1e-9)));
}

TEST(TakeSamples, AnOperationLongerThanTheBudgetGivesOneSampleAndSaysSo) {
  Machine machine;
  machine.takes_s = [](int) { return 5.0; };
  const Sampled sampled = take_samples(options(), machine.batch(), machine.clock);
  EXPECT_EQ(sampled.samples_s.size(), 1U);
  EXPECT_EQ(sampled.reason, StopReason::budget);
  EXPECT_FALSE(sampled.is_converged);
  EXPECT_EQ(sampled.spread_fraction, 1.0);  // nothing is known about the spread
  EXPECT_THAT(sampled.sentence, HasSubstr("after 1 sample"));
}

TEST(TakeSamples, KeepsEverySampleAndCountsOutliers) {
  Machine machine;
  machine.takes_s = [](int operation) { return operation == 60 ? 0.02 : 0.001; };  // 60: past the warm-up
  const Sampled sampled = take_samples(options(), machine.batch(), machine.clock);
  EXPECT_EQ(sampled.outliers, static_cast<int>(std::count_if(sampled.samples_s.begin(), sampled.samples_s.end(),
                                                             [](double s) { return s > 0.01; })));
  EXPECT_NEAR(sampled.median_s, 0.001, 1e-9);
}

TEST(TakeSamples, GoesOnUntilAllAgree) {
  Machine machine;
  machine.takes_s = [](int) { return 0.001; };
  int asked = 0;
  const Agreement agreement = [&](bool has_enough) { return has_enough && ++asked >= 50; };
  const Sampled sampled = take_samples(options(), machine.batch(), machine.clock, agreement);
  EXPECT_GE(sampled.samples_s.size(), 50U);
  EXPECT_EQ(sampled.reason, StopReason::converged);
}

TEST(SummariseSamples, FindsDrift) {
  std::vector<double> samples_s;
  for (int sample = 0; sample < 40; ++sample) samples_s.push_back(sample < 20 ? 1.0 : 1.2);
  const Sampled sampled = summarise_samples(samples_s, 1, StopReason::budget, 0.02);
  EXPECT_TRUE(sampled.is_drifting);
  EXPECT_NEAR(sampled.drift_fraction, 0.2, 1e-12);
  EXPECT_THAT(sampled.sentence, HasSubstr("drifting: the second half is 20.0 % slower"));
}

TEST(SummariseSamples, NoiseIsNotDrift) {
  std::vector<double> samples_s;
  for (int sample = 0; sample < 40; ++sample) samples_s.push_back(sample % 2 == 0 ? 1.0 : 1.2);
  EXPECT_FALSE(summarise_samples(samples_s, 1, StopReason::budget, 0.02).is_drifting);
}

// Quartiles 2 and 4 (type 7), so Tukey's fences are -1 and 7.
TEST(SummariseSamples, OutliersAreOutsideTukeysFences) {
  const Sampled inside = summarise_samples({1, 2, 3, 4, 7}, 1, StopReason::budget, 0.02);
  const Sampled outside = summarise_samples({1, 2, 3, 4, 7.1}, 1, StopReason::budget, 0.02);
  EXPECT_EQ(inside.outliers, 0);
  EXPECT_EQ(outside.outliers, 1);
}

}  // namespace
}  // namespace sextant
