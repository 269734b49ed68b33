// WEAVE: the trace of two weeks, and figures of groups whose phases have the printed lengths.
#include "lab/reproduce/weave/weave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "calibrate/import/records/facts.h"
#include "lab/reproduce/weave/finding.h"
#include "lab/reproduce/weave/two_weeks_trace.h"

namespace sextant::weave {
namespace {

const Comparison& find(const ReproducedExperiment& experiment, const std::string& group,
                       const std::string& cell) {
  const auto found =
      std::find_if(experiment.comparisons.begin(), experiment.comparisons.end(),
                   [&](const Comparison& one) { return one.group == group && one.cell == cell; });
  if (found == experiment.comparisons.end()) throw std::runtime_error("no " + group + ", " + cell);
  return *found;
}

Facts facts() {
  const std::filesystem::path data = std::filesystem::path(SEXTANT_SOURCE_DIR) / "data";
  return Facts::load(data / "gpus.json", data / "models.json");
}

ReproducedExperiment micro_benchmarks() {
  ReproducedExperiment out;
  add_micro_benchmarks(out, facts());
  return out;
}

// Section 6.4: 200 jobs in two weeks, 27.9 hours on average.
TEST(WeaveTrace, HasTheJobsOfTheDescription) {
  const coschedule::JobTrace trace = two_weeks_trace({}, 1);
  ASSERT_EQ(trace.jobs.size(), 200U);
  double duration_s = 0, last_s = 0;
  for (const coschedule::Job& job : trace.jobs) {
    duration_s += job.duration_s;
    EXPECT_GE(job.arrival_s, last_s);
    last_s = job.arrival_s;
    EXPECT_GE(job.rollout_s, 50);
    EXPECT_LE(job.rollout_s, 900);
    EXPECT_GE(job.max_slowdown, 1);
    EXPECT_LE(job.max_slowdown, 2);
  }
  EXPECT_NEAR(duration_s / 200, 27.9 * 3600, 1e-6 * 27.9 * 3600);
  EXPECT_LE(last_s, 14 * 24 * 3600);
}

// $0.94k an hour over 370.2 hours is what solo disaggregation costs; a pair of nodes costs $57.04.
TEST(WeaveTrace, CostsAloneWhatThePaperPrints) {
  constexpr int kTraces = 20;
  double usd = 0;
  for (std::uint64_t seed = 1; seed <= kTraces; ++seed) {
    for (const coschedule::Job& job : two_weeks_trace({}, seed).jobs)
      usd += 57.04 * job.rollout_nodes * job.duration_s / 3600 / kTraces;
  }
  EXPECT_NEAR(usd, 940 * 370.2, 0.02 * 940 * 370.2);
}

TEST(WeaveTrace, SameSeedSameTrace) {
  EXPECT_EQ(two_weeks_trace({}, 3), two_weeks_trace({}, 3));
  EXPECT_NE(two_weeks_trace({}, 3), two_weeks_trace({}, 4));
}

// Two rollouts of 128.85 s with 275.7 GB / 8 / 64 GB/s of warm start each, one after the other.
TEST(WeaveMicroBenchmarks, TwoEqualJobsAlternate) {
  const ReproducedExperiment all = micro_benchmarks();
  const double period_s = 2 * (257.7 / 2 + 275.7e9 / 8 / 64e9);
  EXPECT_NEAR(*find(all, "iteration in a group", "(a) Temporal Mux").ours, period_s, 1e-6);
  EXPECT_NEAR(
      *find(all, "throughput at the same cost: WEAVE over solo disaggregation", "(a) Temporal Mux").ours,
      2 * 257.7 / period_s, 1e-6);
}

// C and D roll out on one node: 287.3 and 375.3 s, and their warm starts.
TEST(WeaveMicroBenchmarks, TheSharedRolloutNodeDecidesSpatialMultiplexing) {
  const double period_s = 574.6 / 2 + 525.4 * 2.5 / 3.5 + (490.3e9 + 275.7e9) / 8 / 64e9;
  EXPECT_NEAR(*find(micro_benchmarks(), "iteration in a group", "(c) Spatial Mux").ours, period_s, 1e-6);
}

TEST(WeaveMicroBenchmarks, AJobThatComesBackJoinsItsGroup) {
  const ReproducedExperiment all = micro_benchmarks();
  EXPECT_EQ(*find(all, "groups after E came back", "Train Mux").ours, 1);
  EXPECT_NEAR(
      *find(all, "iteration of D1 and D2 after a failure of E, over that before", "after E came back").ours, 1,
      1e-9);
}

// Weights of 7.6 billion parameters in bf16 on each of eight GPUs, and a training 32B near what is printed. The 70B over four
// nodes holds no more on each than the 32B, as section 3.2 says.
TEST(WeaveStates, FollowFromParametersAndLayouts) {
  ReproducedExperiment out;
  add_states(out, facts());
  ASSERT_EQ(out.comparisons.size(), 8U);
  const auto of = [&](const char* cell) {
    return *find(out, "host memory of a suspended phase on a node", cell).ours;
  };
  EXPECT_NEAR(of("rollout 7B"), 8 * 2 * 7.6, 2);
  EXPECT_TRUE(find(out, "host memory of a suspended phase on a node", "training 32B").agrees);
  EXPECT_LT(of("training 70B"), of("training 32B"));
}

TEST(WeaveCauses, EveryDifferenceHasOne) {
  ReproducedExperiment all = micro_benchmarks();
  add_states(all, facts());
  for (const Comparison& one : all.comparisons) {
    if (one.agrees) continue;
    const std::vector<Cause> known = causes();
    EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const Cause& cause) {
      return cause.group == one.group;
    })) << one.group;
  }
}

TEST(WeaveFinding, SaysWhyItDisagreesAndOnlyThen) {
  ReproducedExperiment out;
  const Printed printed{"group", "source", "s"};
  add_finding(out, printed, "near", 105, 100, 100, "a reason");
  add_finding(out, printed, "far", 150, 100, 100, "a reason");
  EXPECT_TRUE(out.comparisons[0].agrees);
  EXPECT_EQ(out.comparisons[0].sentence, "");
  EXPECT_FALSE(out.comparisons[1].agrees);
  EXPECT_EQ(out.comparisons[1].sentence, "ours 150 s, published 100 s: 1.50 times more; a reason");
}

}  // namespace
}  // namespace sextant::weave
