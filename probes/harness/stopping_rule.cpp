#include "probes/harness/stopping_rule.h"

#include <algorithm>

#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

// Sorting after every sample would cost more than a short sample takes, so with many samples only every tenth
// of their number is looked at.
bool is_time_to_look(std::size_t samples) { return samples % std::max<std::size_t>(1, samples / 10) == 0; }

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::budget:
      return "budget";
    case StopReason::max_samples:
      return "most_samples";
  }
  return "";
}

StoppingRule::StoppingRule(const StoppingOptions& options) : options_(options) {
  if (!(options.target_spread_fraction > 0)) throw_bad_input("the target spread of a measurement must be > 0");
  if (!(options.budget_s >= 0)) throw_bad_input("the time budget of a measurement must be >= 0 s");
  if (options.min_samples < 1 || options.max_samples < options.min_samples) {
    throw_bad_input("a measurement needs 1 <= minimum samples <= maximum samples");
  }
}

void StoppingRule::add(double sample_s, double elapsed_s) {
  samples_s_.push_back(sample_s);
  const bool is_time_up = elapsed_s >= options_.budget_s;
  const bool is_full = samples_s_.size() >= static_cast<std::size_t>(options_.max_samples);
  if (!is_time_up && !is_full && !is_time_to_look(samples_s_.size())) return;
  if (has_converged()) {
    verdict_ = StopReason::converged;
  } else if (is_time_up || is_full) {
    verdict_ = is_time_up ? StopReason::budget : StopReason::max_samples;
  } else {
    verdict_.reset();
  }
}

bool StoppingRule::has_converged() const {
  return samples_s_.size() >= static_cast<std::size_t>(options_.min_samples) &&
         relative_spread(samples_s_) <= options_.target_spread_fraction;
}

}  // namespace sextant::inline probes
