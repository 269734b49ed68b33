// Decides when to stop repeating a measurement. Takes plain numbers, so that it is tested without a machine.
//
// It stops at the first of:
//   converged     half the 95 % interval of the median, divided by the median, is at most the target, and there
//                 are at least `min_samples`;
//   max_samples  this number of samples was taken;
//   budget        the time is up (with at least one sample: there is always a result).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline probes {

struct StoppingOptions {
  double target_spread_fraction = 0.02;
  // Six is the smallest number whose whole range covers the median with 95 % (1 - 2 / 2^6 = 97 %).
  int min_samples = 8;
  int max_samples = 2000;
  double budget_s = 0.4;
};

enum class StopReason { converged, budget, max_samples };

[[nodiscard]] std::string_view name_of(StopReason reason);

class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options);

  // Adds a sample; elapsed_s is the time since sampling began, including untimed parts.
  void add(double sample_s, double elapsed_s);

  // The reason to stop, or nullopt while more samples are needed. It may change if sampling continues anyway.
  [[nodiscard]] std::optional<StopReason> verdict() const { return verdict_; }

  [[nodiscard]] bool has_converged() const;
  [[nodiscard]] std::span<const double> samples_s() const { return samples_s_; }

 private:
  StoppingOptions options_;
  std::vector<double> samples_s_;
  std::optional<StopReason> verdict_;
};

}  // namespace sextant::inline probes
