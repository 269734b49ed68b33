#include "planner/coschedule/simulation/drift.h"

#include <gtest/gtest.h>

#include <set>

#include "planner/coschedule/draws.h"
#include "planner/coschedule/simulation/simulate.h"
#include "planner/coschedule/trace/workload.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;

Job running(Job of, double arrival_s, double duration_s, double drift = 0) {
  of.arrival_s = arrival_s;
  of.duration_s = duration_s;
  of.length_drift = drift;
  return of;
}

Simulation simulated(std::string_view policy, const JobTrace& trace, const SimulationOptions& options = {}) {
  return simulate(trace, *find_policy(policy), options);
}

TEST(Drift, TemplatesAreMirrored) {
  EXPECT_DOUBLE_EQ(length_factor(0, 0.7), 1);
  EXPECT_DOUBLE_EQ(length_factor(1, 1), 1.5);
  EXPECT_DOUBLE_EQ(length_factor(-1, 1), 1 / 1.5);
  EXPECT_DOUBLE_EQ(length_factor(1.5, 0.5), 1.375);
  std::set<double> increasing, mixed;
  for (double drawn = 0.001; drawn < 1; drawn += 0.01) {
    increasing.insert(drift_template(DriftSetting::increasing, drawn));
    mixed.insert(drift_template(DriftSetting::mixed, drawn));
    EXPECT_LE(drift_template(DriftSetting::decreasing, drawn), 0);
  }
  EXPECT_EQ(increasing, (std::set<double>{0, 0.5, 1, 1.5}));
  EXPECT_EQ(mixed.size(), 7U);
}

TEST(Drift, LengthsStopAtTheMaximum) {
  Job of = job("a", 100, 50);
  of.responses = Responses{};
  of.responses->tokens = fixed_length(60);
  of.responses->max_tokens = 100;
  EXPECT_NEAR(drifted_times(of, 1).rollout_s, 60, 1e-9);
  EXPECT_NEAR(drifted_times(of, 1.5).rollout_s, 90, 1e-9);
  EXPECT_NEAR(drifted_times(of, 3).rollout_s, 100, 1e-9);
  EXPECT_NEAR(drifted_times(of, 3).training_s, 50, 1e-9);
}

// 60 s of generation become 90 s, 40 s of waits stay.
TEST(Drift, WaitsForEnvironmentsStay) {
  Job waiting = job("a", 100, 50);
  waiting.turns = 3;
  waiting.environment_s_per_turn = 20;
  EXPECT_NEAR(drifted_times(waiting, 1.5).rollout_s, 130, 1e-9);
  EXPECT_NEAR(with_drifted_profile(waiting, 1.5).rollout_s, 130, 1e-9);
  EXPECT_NEAR(with_drifted_profile(waiting, 1.5).training_s, 75, 1e-9);
}

// Ten steps at 1.025, 1.075, ... 1.475 of the first lengths: 1.25 on average. Alone, drift slows nothing down.
TEST(Drift, AJobAloneRunsLongerAndKeepsItsPromise) {
  const Simulation result = simulated("weave", {test::pools(), {running(job("a", 60, 40, 1.01), 0, 1000, 1)}});
  ASSERT_EQ(result.jobs.size(), 1U);
  EXPECT_NEAR(result.jobs[0].end_s, 1250, 1e-6);
  EXPECT_NEAR(result.jobs[0].slowdown, 1, 1e-9);
}

// Job b fits a's gaps at first: 100 s each. Its first steps, 1.0375 and 1.1125 times longer, are within the 1.15 that a
// allows; the third, 1.1875, is not, and b gets a group of its own. Without that, a would run at b's pace.
TEST(Drift, AJobThatHasDriftedTooFarIsPlacedAnew) {
  const JobTrace trace{
      test::pools(),
      {running(job("a", 60, 40, 1.15), 0, 10'000), running(job("b", 40, 60, 1.15), 0, 10'000, 1.5)}};
  const Simulation result = simulated("weave", trace);
  EXPECT_EQ(result.resubmissions, 1);
  EXPECT_EQ(result.max_training_nodes, 2);
  EXPECT_EQ(result.kept_fraction, 1);
  EXPECT_NEAR(result.restart_s, 300, 1e-9);
  ASSERT_EQ(result.jobs.size(), 2U);
  // Two steps of 1,000 iterations' work at b's pace, then alone.
  EXPECT_NEAR(result.jobs[0].end_s, 10'000 + (103.75 + 111.25 - 200) * 10 * 1.0, 30);
  EXPECT_EQ(result.jobs[1].resubmissions, 1);
}

// The same two jobs, and the one that drifts does not stop for its neighbour.
TEST(Drift, AJobThatStaysBreaksThePromiseOfItsNeighbour) {
  Job drifting = job("b", 40, 60, 1.15);
  drifting.on_drift = OnDrift::stay;
  const JobTrace trace{test::pools(),
                       {running(job("a", 60, 40, 1.15), 0, 10'000), running(drifting, 0, 10'000, 1.5)}};
  const Simulation result = simulated("weave", trace);
  EXPECT_EQ(result.resubmissions, 0);
  EXPECT_EQ(result.restart_s, 0);
  EXPECT_EQ(result.kept_fraction, 0.5);
  EXPECT_EQ(result.always_kept_fraction, 0.5);
}

TEST(Drift, HourlyRegroupingRepairsPromisesWithRestarts) {
  TraceRules rules;
  rules.jobs = 60;
  rules.drift = DriftSetting::mixed;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  const Simulation hourly = simulated("regroup-hourly", trace), still = simulated("weave", trace);
  EXPECT_GT(hourly.restarts, 0);
  EXPECT_EQ(hourly.resubmissions, 0);
  EXPECT_GT(still.resubmissions, 0);
  EXPECT_EQ(still.jobs.size(), 60U);
  EXPECT_EQ(hourly.jobs.size(), 60U);
}

// A job of 100 s an iteration that fails repeats at most one of them each time, and its absence is not counted.
TEST(Failures, TheOthersGoOnAndTheJobComesBack) {
  JobTrace trace{test::pools(),
                 {running(job("a", 60, 40, 1.3), 0, 50'000), running(job("b", 40, 60, 1.3), 0, 50'000)}};
  SimulationOptions options;
  options.mean_time_between_failures_s = 20'000;
  const Simulation result = simulated("weave", trace, options);
  ASSERT_EQ(result.jobs.size(), 2U);
  EXPECT_GT(result.failures, 1);
  EXPECT_EQ(result.jobs[0].failures + result.jobs[1].failures, result.failures);
  for (const SimulatedJob& of : result.jobs) {
    const double lost_s = (of.slowdown - 1) * 50'000;
    EXPECT_GE(lost_s, -1e-6);
    EXPECT_LE(lost_s, 100 * of.failures + 1e-6);
    EXPECT_NEAR(of.end_s, 50'000 + lost_s + of.failures * options.return_after_s, 1e-6);
  }
  const Simulation again = simulated("weave", trace, options);
  EXPECT_EQ(again.jobs, result.jobs);
}

// 60 s of rollout take 80 s on the training node; with 40 s of training that is 1.2 times as long as alone. A job that
// allows 1.5 gets one node for 1,200 s; one that allows 1 needs two, for 600 s.
TEST(JobLevel, ColocatedJobsUseTrainingNodesAlone) {
  Job of = running(job("a", 60, 40, 1.5), 0, 1000);
  of.colocated_rollout_s = 80;
  Simulation result = simulated("colocated", {test::pools(), {of}});
  EXPECT_NEAR(result.duration_s, 1200, 1e-6);
  EXPECT_NEAR(result.total_usd, 3 * 1200.0 / 3600, 1e-9);
  EXPECT_EQ(result.max_rollout_nodes, 0);
  of.max_slowdown = 1;
  result = simulated("colocated", {test::pools(), {of}});
  EXPECT_NEAR(result.duration_s, 600, 1e-6);
  EXPECT_NEAR(result.total_usd, 6 * 600.0 / 3600, 1e-9);
  EXPECT_EQ(result.kept_fraction, 1);
}

// Each needs half of a training node's time, so two share one and take twice as long; the third gets another.
TEST(JobLevel, GavelGivesJobsSharesOfTime) {
  std::vector<Job> jobs;
  for (const char* name : {"a", "b", "c"}) jobs.push_back(running(job(name, 60, 40, 2), 0, 1000));
  const Simulation result = simulated("gavel", {test::pools(), jobs});
  EXPECT_EQ(result.max_training_nodes, 2);
  EXPECT_EQ(result.max_rollout_nodes, 0);
  ASSERT_EQ(result.jobs.size(), 3U);
  EXPECT_EQ(result.jobs[0].name, "c");
  EXPECT_NEAR(result.jobs[0].end_s, 1000, 1e-6);
  EXPECT_NEAR(result.jobs[1].end_s, 2000, 1e-6);
  EXPECT_EQ(result.kept_fraction, 1);
}

}  // namespace
}  // namespace sextant::coschedule
