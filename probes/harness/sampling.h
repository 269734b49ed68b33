// Times any operation: warms up, batches short operations, repeats until the stopping rule is satisfied, then
// summarises.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/harness/clock.h"
#include "probes/harness/stopping_rule.h"

namespace sextant::inline probes {

struct SamplingOptions {
  StoppingOptions stopping;
  // Repeats untimed before the first sample, at least once: pages, caches, clocks and lazy initialisation.
  double warm_up_s = 0.04;
  // A sample lasts at least this and 1000 steps of the clock; shorter operations are batched.
  double min_sample_s = 1e-4;
};

// Options with the given budget, a tenth of it for the warm-up.
[[nodiscard]] SamplingOptions sampling_options(double budget_s, double target_spread_fraction);

// Executes the operation `repeats` times in a row and returns the seconds.
using TimedBatch = std::function<double(int repeats)>;

// Times `operation` with the clock.
[[nodiscard]] TimedBatch timed(const Clock& clock, std::function<void()> operation);

// Called after each sample with whether this process has enough; returns whether all stop. By default a process
// decides alone; ranks that must stay in step pass a collective.
using Agreement = std::function<bool(bool has_enough)>;

struct Sampled {
  std::vector<double> samples_s;  // all samples, per operation, in the order taken
  int operations_per_sample = 1;
  StopReason reason = StopReason::budget;
  double median_s = 0;
  double spread_fraction = 0;  // half the 95 % interval of the median / median; 1 for a single sample
  int outliers = 0;            // outside Tukey's fences, kept in samples_s
  // Median of the second half of the samples relative to the first: +0.1 means it became 10 % slower.
  double drift_fraction = 0;
  bool is_drifting = false;  // by more than the target, and the halves' intervals do not overlap
  bool is_converged = false;
  std::string sentence;  // "converged: 1.3 % after 24 samples of 4 operations ..."
};

// Computes statistics of existing samples; `reason` is why they ended. At least one sample.
[[nodiscard]] Sampled summarise_samples(std::vector<double> samples_s, int operations_per_sample,
                                        StopReason reason, double target_spread_fraction);

[[nodiscard]] Sampled take_samples(const SamplingOptions& options, const TimedBatch& batch, const Clock& clock,
                                   const Agreement& agreement = {});

}  // namespace sextant::inline probes
