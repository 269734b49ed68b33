#include "probes/harness/stopping_rule.h"

#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

StoppingOptions stopping_options() {
  StoppingOptions usual;
  usual.target_spread_fraction = 0.02;
  usual.min_samples = 8;
  usual.max_samples = 100;
  usual.budget_s = 10;
  return usual;
}

TEST(StoppingRule, ConvergesOnEqualSamplesAsSoonAsThereAreEnough) {
  StoppingRule rule(stopping_options());
  for (int sample = 1; sample < 8; ++sample) {
    rule.add(1.0, 0.1 * sample);
    ASSERT_FALSE(rule.verdict().has_value()) << sample;
  }
  rule.add(1.0, 0.8);
  EXPECT_EQ(rule.verdict(), StopReason::converged);
}

// Between 1 and 1.03 in turn: eight of them have the interval [1, 1.03], half of which is 1.48 % of the median.
TEST(StoppingRule, TargetIsHalfTheIntervalOverTheMedian) {
  StoppingOptions narrow = stopping_options();
  narrow.target_spread_fraction = 0.0147;
  StoppingOptions wide = stopping_options();
  wide.target_spread_fraction = 0.0149;
  StoppingRule narrow_rule(narrow);
  StoppingRule wide_rule(wide);
  for (int sample = 0; sample < 8; ++sample) {
    narrow_rule.add(sample % 2 == 0 ? 1.0 : 1.03, 0.1);
    wide_rule.add(sample % 2 == 0 ? 1.0 : 1.03, 0.1);
  }
  EXPECT_FALSE(narrow_rule.verdict().has_value());
  EXPECT_EQ(wide_rule.verdict(), StopReason::converged);
}

TEST(StoppingRule, EndsWithTheBudgetEvenAfterOneSample) {
  StoppingRule rule(stopping_options());
  rule.add(30.0, 30.0);
  EXPECT_EQ(rule.verdict(), StopReason::budget);
}

TEST(StoppingRule, EndsWithTheMostSamplesWhenTheyNeverAgree) {
  StoppingRule rule(stopping_options());
  for (int sample = 0; sample < 99; ++sample) {
    rule.add(sample % 2 == 0 ? 1.0 : 2.0, 0.01);
    ASSERT_FALSE(rule.verdict().has_value()) << sample;
  }
  rule.add(1.0, 0.01);
  EXPECT_EQ(rule.verdict(), StopReason::max_samples);
}

TEST(StoppingRule, AnOutlierDoesNotKeepItFromConverging) {
  StoppingRule rule(stopping_options());
  rule.add(50.0, 0.1);
  int samples = 1;
  while (!rule.verdict() && samples < 100) {
    rule.add(1.0, 0.1);
    ++samples;
  }
  EXPECT_EQ(rule.verdict(), StopReason::converged);
  EXPECT_LT(samples, 20);
}

TEST(StoppingRule, WithinTheBudgetConvergedWinsOverBudget) {
  StoppingRule rule(stopping_options());
  for (int sample = 0; sample < 7; ++sample) rule.add(1.0, 0.1);
  rule.add(1.0, 11.0);
  EXPECT_EQ(rule.verdict(), StopReason::converged);
}

TEST(StoppingRule, RefusesOptionsThatCannotBeMet) {
  const auto with = [](auto change) {
    StoppingOptions changed = stopping_options();
    change(changed);
    return StoppingRule(changed);
  };
  EXPECT_THROW(with([](auto& o) { o.target_spread_fraction = 0; }), Error);
  EXPECT_THROW(with([](auto& o) { o.budget_s = -1; }), Error);
  EXPECT_THROW(with([](auto& o) { o.min_samples = 0; }), Error);
  EXPECT_THROW(with([](auto& o) { o.max_samples = 7; }), Error);
}

}  // namespace
}  // namespace sextant
