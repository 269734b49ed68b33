#include "planner/coschedule/simulation/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/trace/workload.h"
#include "sextant/error.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job arriving(Job of, double arrival_s, double duration_s) {
  of.arrival_s = arrival_s;
  of.duration_s = duration_s;
  return of;
}

Simulation by(std::string_view policy, const JobTrace& trace) { return simulate(trace, *find_policy(policy)); }

// One job alone for 1000 s costs 4 dollars an hour.
TEST(Simulate, OneJobRunsAsLongAsAlone) {
  const Simulation result = by("weave", {test::pools(), {arriving(job("a", 60, 40), 10, 1000)}});
  EXPECT_DOUBLE_EQ(result.duration_s, 1000);
  EXPECT_NEAR(result.total_usd, 4 * 1000.0 / 3600, 1e-9);
  EXPECT_NEAR(result.rollout_busy_fraction, 0.6, 1e-12);
  EXPECT_NEAR(result.training_busy_fraction, 0.4, 1e-12);
  EXPECT_EQ(result.decisions, (std::map<std::string, int>{{"new_group", 1}}));
}

// Job b (70 + 50 s alone) joins a (80 + 40 s, which allows 1.5): 150 s of rollouts a meta-iteration. Until b ends
// after 1000 x 150/120 = 1250 s, a advances by 1000 s; its last 200 s alone take 200 s.
TEST(Simulate, MembersSlowEachOtherDownWhileTheyShare) {
  const JobTrace trace{test::pools(),
                       {arriving(job("a", 80, 40, 1.5), 0, 1200), arriving(job("b", 70, 50, 1.5), 0, 1000)}};
  const Simulation result = by("weave", trace);
  ASSERT_EQ(result.jobs.size(), 2U);
  EXPECT_EQ(result.jobs[0].name, "b");
  EXPECT_NEAR(result.jobs[0].end_s, 1250, 1e-6);
  EXPECT_NEAR(result.jobs[1].end_s, 1450, 1e-6);
  EXPECT_NEAR(result.jobs[1].slowdown, 1450.0 / 1200, 1e-9);
  EXPECT_NEAR(result.total_usd, 4 * 1450.0 / 3600, 1e-9);
}

TEST(Simulate, KeepsEveryPromiseOfTenThousandJobs) {
  TraceRules rules;
  rules.jobs = 10'000;
  rules.mean_gap_s = rules.mean_duration_s / 40;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  int checked = 0;
  SimulationOptions options;
  options.keeps_jobs = false;
  options.on_state = [&](const Placement& placement, double) {
    if (++checked % 500 == 0) {
      EXPECT_THAT(broken_promises(placement), IsEmpty());
    }
  };
  const Simulation result = simulate(trace, policies().front(), options);
  EXPECT_EQ(result.kept_fraction, 1);
  EXPECT_EQ(result.refused, 0);
  EXPECT_GT(checked, 10'000);
}

TEST(Simulate, PoliciesWithoutPromisesBreakThem) {
  TraceRules rules;
  rules.mean_gap_s = rules.mean_duration_s / 20;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  const double ours = by("weave", trace).total_usd;
  EXPECT_LT(by("random", trace).kept_fraction, 0.9);
  EXPECT_LT(by("most-idle", trace).kept_fraction, 0.9);
  EXPECT_EQ(by("solo", trace).kept_fraction, 1);
  EXPECT_GT(by("solo", trace).total_usd, 1.3 * ours);
  const Simulation repacked = by("weave-repack", trace);
  EXPECT_EQ(repacked.kept_fraction, 1);
  EXPECT_GT(repacked.restarts, 0);
  EXPECT_LT(repacked.total_usd, 0.97 * ours);
  EXPECT_EQ(by("weave-paper", trace).kept_fraction, 1);
  EXPECT_GE(by("weave-paper", trace).total_usd, 0.99 * ours);
}

TEST(Simulate, TheSameSeedGivesTheSameResult) {
  TraceRules rules;
  rules.jobs = 100;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  Simulation first = by("random", trace), second = by("random", trace);
  first.decision_p50_s = first.decision_p99_s = second.decision_p50_s = second.decision_p99_s = 0;
  EXPECT_EQ(first, second);
  EXPECT_EQ(drawn_trace(rules, weave_pools()), trace);
  const Json json = first.to_json();
  EXPECT_EQ(Simulation::parse(JsonView(json)), first);
}

// Never above another policy that keeps the promises of the same jobs, and nothing stands still for it.
TEST(Simulate, TheOfflineOptimumIsTheCheapestThatKeepsItsPromises) {
  TraceRules rules;
  rules.jobs = 60;
  for (rules.seed = 1; rules.seed <= 3; ++rules.seed) {
    const JobTrace trace = drawn_trace(rules, weave_pools());
    const Simulation optimum = by("optimum", trace);
    EXPECT_EQ(optimum.kept_fraction, 1);
    EXPECT_EQ(optimum.restart_s, 0);
    EXPECT_LT(optimum.mean_usd_per_hour, 0.98 * by("weave-once", trace).mean_usd_per_hour);
    for (const char* other : {"weave", "weave-once", "weave-paper", "solo"}) {
      const Simulation result = by(other, trace);
      EXPECT_EQ(result.kept_fraction, 1) << other;
      EXPECT_LT(optimum.mean_usd_per_hour, result.mean_usd_per_hour * 1.001) << other;
    }
  }
}

// Bursts of ten jobs: the mean gap stays, and most gaps are of minutes.
TEST(DrawnTrace, MayArriveInBursts) {
  TraceRules rules;
  rules.jobs = 5000;
  const auto gaps = [](const JobTrace& trace) {
    std::vector<double> all;
    for (std::size_t j = 1; j < trace.jobs.size(); ++j)
      all.push_back(trace.jobs[j].arrival_s - trace.jobs[j - 1].arrival_s);
    return all;
  };
  const auto short_share = [](const std::vector<double>& all) {
    const auto few = std::count_if(all.begin(), all.end(), [](double gap_s) { return gap_s < 600; });
    return static_cast<double>(few) / static_cast<double>(all.size());
  };
  const std::vector<double> poisson = gaps(drawn_trace(rules, weave_pools()));
  rules.mean_burst = 10;
  const JobTrace bursty = drawn_trace(rules, weave_pools());
  EXPECT_NEAR(short_share(poisson), 1 - std::exp(-600 / rules.mean_gap_s), 0.02);
  EXPECT_NEAR(short_share(gaps(bursty)), 0.9, 0.03);
  EXPECT_NEAR(bursty.jobs.back().arrival_s / 5000, rules.mean_gap_s, 0.15 * rules.mean_gap_s);
  SimulationOptions options;
  options.keeps_jobs = false;
  EXPECT_EQ(simulate(bursty, *find_policy("weave"), options).kept_fraction, 1);
}

TEST(TraceOfCsv, ReadsPhillysColumns) {
  const JobTrace trace = trace_of_csv("job,arrival,duration\na,5,60\nb,7,30\n", {}, weave_pools());
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[1].arrival_s, 7);
  EXPECT_EQ(trace.jobs[1].duration_s, 30);
}

TEST(TraceOfCsv, ReadsArrivalsAndDurations) {
  const JobTrace trace = trace_of_csv("job,arrival_s,duration_s\nx,0,100\ny,5,200\n", {}, weave_pools());
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[1].name, "y");
  EXPECT_EQ(trace.jobs[1].duration_s, 200);
  EXPECT_GT(trace.jobs[1].rollout_s, 0);
  try {
    (void)trace_of_csv("job,arrival_s,duration_s\nx,9,100\ny,5,200\n", {}, weave_pools());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("earlier than in the row before"));
  }
}

}  // namespace
}  // namespace sextant::coschedule
