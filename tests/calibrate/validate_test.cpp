#include "calibrate/validate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/fit.h"
#include "calibrate/split.h"
#include "core/error.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::testing {
namespace {

TEST(Validate, PerfectCoefficientsHaveNoError) {
  const Coefficients truth = synthetic_truth();
  const Runs runs = synthetic_runs(truth);
  const Accuracy accuracy = validate(runs, truth);
  EXPECT_EQ(accuracy.held_out_iterations.count, static_cast<int>(runs.runs.size()));
  EXPECT_LT(accuracy.held_out_tasks.worst, 1e-12);
  EXPECT_NEAR(accuracy.rank_correlation, 1, 1e-12);
  EXPECT_FALSE(accuracy.has_intervals);
}

TEST(Validate, ErrorsAreThoseOfTheMeasurement) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth);
  for (sextant::Run& run : runs.runs) run.iteration.samples_s[0] *= 1.25;  // predicted / measured = 0.8
  const Accuracy accuracy = validate(runs, truth);
  EXPECT_NEAR(accuracy.held_out_iterations.mape, 0.2, 1e-12);
  EXPECT_NEAR(accuracy.held_out_iterations.worst, 0.2, 1e-12);
  EXPECT_LT(accuracy.held_out_tasks.mape, 1e-12);
}

TEST(Validate, SeparatesSeenFromUnseen) {
  const Runs runs = synthetic_runs(synthetic_truth(), 0.03, 3);
  const Split split = split_runs(runs, 0.25, HoldOutBy::workflow, 1);
  const Coefficients fitted = fit_coefficients(runs, split.fit);
  const Accuracy accuracy = validate(runs, fitted);
  EXPECT_EQ(accuracy.held_out_iterations.count, static_cast<int>(split.held_out.size()));
  EXPECT_EQ(accuracy.in_sample_iterations.count, static_cast<int>(split.fit.size()));
  for (const ComparedTime& time : accuracy.times) {
    const bool kept_back =
        std::find(split.held_out.begin(), split.held_out.end(), time.run) != split.held_out.end();
    EXPECT_EQ(time.held_out, kept_back);
  }
  EXPECT_TRUE(accuracy.has_intervals);
  // 64 held-out times with 3 % noise: the 90 % intervals must cover most and cannot be vacuous.
  EXPECT_GT(accuracy.interval_coverage, 0.75);
  EXPECT_LT(fitted.fit->iteration_log_deviation, 0.1);
}

TEST(Split, IsDeterministicCompleteAndDisjoint) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const Split a = split_runs(runs, 1.0 / 3, HoldOutBy::run, 4),
              b = split_runs(runs, 1.0 / 3, HoldOutBy::run, 4);
  EXPECT_EQ(a.fit, b.fit);
  EXPECT_EQ(a.fit.size() + a.held_out.size(), runs.runs.size());
  EXPECT_EQ(a.held_out.size(), 21u);  // a third of 64
  for (const std::string& name : a.held_out) EXPECT_EQ(std::count(a.fit.begin(), a.fit.end(), name), 0);
  EXPECT_NE(split_runs(runs, 1.0 / 3, HoldOutBy::run, 5).held_out, a.held_out);
}

TEST(Split, KeepsWholeWorkflowsBack) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const Split split = split_runs(runs, 0.25, HoldOutBy::workflow, 1);
  EXPECT_EQ(split.held_out.size(), 16u);  // 4 of 16 workflows, 4 runs each
  for (const sextant::Run& seen : runs.runs) {
    for (const sextant::Run& kept : runs.runs) {
      if (seen.workflow != kept.workflow) continue;
      EXPECT_EQ(std::count(split.fit.begin(), split.fit.end(), seen.name),
                std::count(split.fit.begin(), split.fit.end(), kept.name));
    }
  }
}

TEST(Split, NeedsTwoGroups) {
  Runs runs = synthetic_runs(synthetic_truth());
  runs.runs.resize(1);
  EXPECT_THROW((void)split_runs(runs, 0.5, HoldOutBy::run, 1), Error);
}

}  // namespace
}  // namespace sextant::testing
