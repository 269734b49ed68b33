#include "lab/reproduce/weave/two_weeks_trace.h"

#include <algorithm>
#include <cmath>

#include "planner/coschedule/draws.h"
#include "planner/coschedule/trace/workload.h"

namespace sextant::weave {
namespace {

using namespace coschedule;

constexpr int kJobs = 200;
constexpr double kHour_s = 3600, kMeanDuration_s = 27.9 * kHour_s;

// Arrivals of 14 days whose rate swings between nothing and twice the mean each week: solo disaggregation has 41 pairs
// of nodes at its peak and 16.5 on average, which even arrivals do not reach.
std::vector<double> arrivals_s(Draws& draws) {
  constexpr double kTwoWeeks_s = 14 * 24 * kHour_s, kTwoPi = 6.283185307179586;
  std::vector<double> all;
  while (all.size() < kJobs) {
    const double weeks = 2 * draws.uniform();
    if (draws.uniform() > (1 - std::cos(kTwoPi * weeks)) / 2) continue;
    all.push_back(weeks / 2 * kTwoWeeks_s);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The mean of the trace is that of the paper.
std::vector<double> durations_s(Draws& draws) {
  constexpr double kSigma = 0.7;
  std::vector<double> all;
  double sum = 0;
  for (int j = 0; j < kJobs; ++j) sum += all.emplace_back(draws.log_normal(1, kSigma));
  for (double& seconds : all) seconds *= kMeanDuration_s * kJobs / sum;
  return all;
}

Job phases_of_job(const TwoWeeks& rules, Draws& draws) {
  constexpr double kMultiTurn = 0.5, kMemoryRatio = 4.0 / 3.35;  // Table 1
  Job job;
  job.rollout_s = rules.min_rollout_s * std::pow(rules.max_rollout_s / rules.min_rollout_s, draws.uniform());
  const bool has_turns = draws.uniform() < kMultiTurn;
  job.training_s = job.rollout_s / draws.within(has_turns ? Range{2.5, 6} : Range{0.8, 1.25});
  job.max_slowdown = draws.within({rules.min_slowdown, 2});
  job.rollout_nodes = job.training_nodes = draws.uniform() < rules.wide_share ? 2 : 1;
  job.colocated_rollout_s = job.rollout_s * kMemoryRatio;
  job.length_drift = drift_template(rules.drift, draws.uniform());
  return job;
}

}  // namespace

JobTrace two_weeks_trace(const TwoWeeks& rules, std::uint64_t seed) {
  Draws times(seed, 0), jobs(seed, 1);
  JobTrace trace{weave_pools(), {}};
  const std::vector<double> arrivals = arrivals_s(times), durations = durations_s(times);
  for (std::size_t j = 0; j < arrivals.size(); ++j) {
    Job job = phases_of_job(rules, jobs);
    job.name = "job-" + std::to_string(j + 1);
    job.arrival_s = arrivals[j];
    job.duration_s = durations[j];
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace sextant::weave
