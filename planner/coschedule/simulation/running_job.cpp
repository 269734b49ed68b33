#include "planner/coschedule/simulation/running_job.h"

#include <algorithm>

#include "planner/coschedule/simulation/drift.h"

namespace sextant::coschedule {

void RunningJob::advance_to(double now_s) {
  left_s = std::max(0.0, left_s - rate * (now_s - since_s));
  since_s = now_s;
}

int steps_of(const Job& job) { return job.length_drift == 0 ? 1 : kDriftSteps; }

double length_factor_of(const Job& job, int step) {
  return length_factor(job.length_drift, (step + 0.5) / steps_of(job));
}

double step_s(const Job& job, const RunningJob& run) {
  return job.duration_s / steps_of(job) * run.times.solo_s() / run.first_solo_s;
}

void begin_step(const Job& job, int step, RunningJob& run) {
  const double factor = length_factor_of(job, step);
  run.step = step;
  if (job.responses) {
    run.batch = typical_batch(with_longer_responses(*job.responses, factor));
    run.times = times_of(job, *run.batch);
  } else {
    run.times = drifted_times(job, factor);
  }
  run.left_s = step_s(job, run);
}

}  // namespace sextant::coschedule
