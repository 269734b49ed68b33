// Job traces: drawn as WEAVE's simulations draw them (section 6.5, Table 6), or read from the columns of public
// cluster traces.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/coschedule/job.h"
#include "planner/coschedule/simulation/drift.h"

namespace sextant::coschedule {

// Ratio of rollout to training time.
enum class Profile { balanced, rollout_heavy, train_heavy, mixed };

struct TraceRules {
  Profile profile = Profile::mixed;
  int jobs = 300;
  double mean_gap_s = 580.0 * 3600 / 300;  // between arrivals, exponential (300 jobs in 580 h)
  // Jobs that arrive together, on average: bursts are as far apart as keeps the mean gap, their sizes are geometric, and
  // their jobs come a minute after each other. 1: Poisson.
  double mean_burst = 1;
  double mean_duration_s = 14.4 * 3600;
  double duration_sigma = 1;  // log-normal: the longest of 300 is about ten times the mean, as in Philly's
  double min_slowdown = 1, max_slowdown = 2;  // uniform
  double typical_fraction = 1;
  // Log-normal lengths of responses, in shares of the maximum; without lengths if the median is 0.
  double response_median = 0, response_sigma = 1;
  DriftSetting drift = DriftSetting::none;
  std::uint64_t seed = 1;
};

// H20 nodes for rollout and H800 nodes for training, at the prices of WEAVE's Table 1, with hosts of 2 TB.
[[nodiscard]] Pools weave_pools();

[[nodiscard]] JobTrace drawn_trace(const TraceRules& rules, const Pools& pools);

// The lengths that the rules give to every job; empty if none.
[[nodiscard]] std::optional<Responses> drawn_responses(const TraceRules& rules);

// A job of Table 6 without arrival and duration.
[[nodiscard]] Job drawn_job(Profile profile, double min_slowdown, double max_slowdown, std::uint64_t seed,
                            std::uint64_t number);

// Arrivals and durations from CSV with a header and the columns job, arrival_s and duration_s, or job, arrival and duration
// (Philly's form), in seconds;
// phases are drawn as above. Throws Error(bad_input) with the line.
[[nodiscard]] JobTrace trace_of_csv(std::string_view csv, const TraceRules& rules, const Pools& pools);

}  // namespace sextant::coschedule
