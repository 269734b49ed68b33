#include "planner/coschedule/simulation/drift.h"

#include <algorithm>
#include <cmath>

namespace sextant::coschedule {

double drift_template(DriftSetting setting, double drawn) {
  constexpr std::size_t kOfOneDirection = 4;  // none and three
  const auto nth = [&](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(drawn * static_cast<double>(count)));
  };
  switch (setting) {
    case DriftSetting::none:
      return 0;
    case DriftSetting::increasing:
      return kDriftTemplates.at(nth(kOfOneDirection));
    case DriftSetting::decreasing:
      return -kDriftTemplates.at(nth(kOfOneDirection));
    case DriftSetting::mixed:
      return kDriftTemplates.at(nth(kDriftTemplates.size()));
  }
  return 0;
}

double length_factor(double drift, double progress) {
  const double factor = 1 + std::abs(drift) * kDriftGrowth * progress;
  return drift < 0 ? 1 / factor : factor;
}

PhaseTimes drifted_times(const Job& job, double factor) {
  if (job.responses) return times_of(job, typical_batch(with_longer_responses(*job.responses, factor)));
  PhaseTimes times = typical_times(job);
  times.rollout_s += (factor - 1) * (times.rollout_s - job.environment_s());
  times.training_s *= factor;
  return times;
}

Job with_drifted_profile(const Job& job, double factor) {
  Job drifted = job;
  if (job.responses) {
    drifted.responses = with_longer_responses(*job.responses, factor);
  } else {
    drifted.rollout_s += (factor - 1) * job.decoding_s();
    drifted.training_s *= factor;
  }
  return drifted;
}

}  // namespace sextant::coschedule
