#include "probes/harness/sampling.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/units.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr double kClockStepsPerSample = 1000;  // a reading is off by one step at each end: 0.2 %
constexpr int kMaxOperationsPerSample = 1 << 24;
constexpr std::size_t kMinSamplesForDrift = 10;
constexpr double kTukeyFence = 1.5;

// Tukey (1977): further than 1.5 interquartile ranges outside the quartiles.
int count_outliers(std::span<const double> samples_s) {
  const double low_s = quantile(samples_s, 0.25);
  const double high_s = quantile(samples_s, 0.75);
  const double fence_s = kTukeyFence * (high_s - low_s);
  return static_cast<int>(std::count_if(samples_s.begin(), samples_s.end(), [&](double sample_s) {
    return sample_s < low_s - fence_s || sample_s > high_s + fence_s;
  }));
}

void find_drift(Sampled& sampled, double target_spread_fraction) {
  const std::span<const double> all(sampled.samples_s);
  if (all.size() < kMinSamplesForDrift) return;
  const auto first = all.first(all.size() / 2);
  const auto second = all.last(all.size() / 2);
  sampled.drift_fraction = median(second) / median(first) - 1;
  const Interval before = median_interval(first);
  const Interval after = median_interval(second);
  const bool is_apart = before.high < after.low || after.high < before.low;
  sampled.is_drifting = is_apart && std::abs(sampled.drift_fraction) > target_spread_fraction;
}

std::string describe(const Sampled& sampled, double target_spread_fraction) {
  const std::size_t count = sampled.samples_s.size();
  std::string text = std::string(name_of(sampled.reason)) + ": median known to " +
                     format_percent(sampled.spread_fraction) + " (target " +
                     format_percent(target_spread_fraction) + ") after " + std::to_string(count) +
                     (count == 1 ? " sample" : " samples");
  if (sampled.operations_per_sample > 1) {
    text += " of " + std::to_string(sampled.operations_per_sample) + " operations";
  }
  if (sampled.outliers > 0) text += ", " + std::to_string(sampled.outliers) + " outside Tukey's fences";
  if (sampled.is_drifting) {
    text += ", drifting: the second half is " + format_percent(std::abs(sampled.drift_fraction)) +
            (sampled.drift_fraction > 0 ? " slower" : " faster") + " than the first";
  }
  return text;
}

// How many operations make a sample long enough to time. Its runs are part of the warm-up.
int choose_batch(const TimedBatch& batch, double min_sample_s) {
  int operations = 1;
  while (operations < kMaxOperationsPerSample) {
    const double took_s = batch(operations);
    if (took_s >= min_sample_s) return operations;
    // Aim a little beyond, but never trust one short reading for more than a factor of ten.
    const double wanted = took_s > 0 ? 1.2 * min_sample_s / took_s : 10.0;
    operations = static_cast<int>(std::ceil(operations * std::clamp(wanted, 1.5, 10.0)));
  }
  return kMaxOperationsPerSample;
}

}  // namespace

SamplingOptions sampling_options(double budget_s, double target_spread_fraction) {
  SamplingOptions options;
  options.stopping.budget_s = budget_s;
  options.stopping.target_spread_fraction = target_spread_fraction;
  options.warm_up_s = 0.1 * budget_s;
  return options;
}

TimedBatch timed(const Clock& clock, std::function<void()> operation) {
  return [&clock, operation = std::move(operation)](int repeats) {
    const double start_s = clock.now_s();
    for (int repeat = 0; repeat < repeats; ++repeat) operation();
    return clock.now_s() - start_s;
  };
}

Sampled summarise_samples(std::vector<double> samples_s, int operations_per_sample, StopReason reason,
                          double target_spread_fraction) {
  Sampled sampled;
  sampled.samples_s = std::move(samples_s);
  sampled.operations_per_sample = operations_per_sample;
  sampled.reason = reason;
  sampled.median_s = median(sampled.samples_s);
  sampled.spread_fraction = sampled.samples_s.size() > 1 ? relative_spread(sampled.samples_s) : 1.0;
  sampled.outliers = count_outliers(sampled.samples_s);
  sampled.is_converged = reason == StopReason::converged;
  find_drift(sampled, target_spread_fraction);
  sampled.sentence = describe(sampled, target_spread_fraction);
  return sampled;
}

Sampled take_samples(const SamplingOptions& options, const TimedBatch& batch, const Clock& clock,
                     const Agreement& agreement) {
  StoppingRule rule(options.stopping);
  const double warm_up_start_s = clock.now_s();
  static const double resolution_s = measure_resolution_s(steady_clock());
  const double min_sample_s = std::max(options.min_sample_s, kClockStepsPerSample * resolution_s);
  const int operations = choose_batch(batch, min_sample_s);
  while (clock.now_s() - warm_up_start_s < options.warm_up_s) batch(operations);

  const double start_s = clock.now_s();
  bool is_done = false;
  while (!is_done) {
    const double took_s = batch(operations);
    rule.add(took_s / operations, clock.now_s() - start_s);
    const bool has_enough = rule.verdict().has_value();
    is_done = agreement ? agreement(has_enough) : has_enough;
  }
  // A rank that waited for others may have converged since, or no longer be converged.
  StopReason reason = rule.verdict().value_or(StopReason::budget);
  if (rule.has_converged()) {
    reason = StopReason::converged;
  } else if (reason == StopReason::converged) {
    reason = StopReason::budget;
  }
  const auto samples = rule.samples_s();
  return summarise_samples({samples.begin(), samples.end()}, operations, reason,
                           options.stopping.target_spread_fraction);
}

}  // namespace sextant::inline probes
