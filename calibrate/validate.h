// Predicts every run and compares the predictions with the measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/accuracy.h"
#include "sextant/coefficients.h"
#include "sextant/prediction.h"
#include "sextant/run.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {

// A measured time of a run beside the prediction of what its timer should read.
struct JudgedTime {
  std::string what;  // a timer's name, elapsed_name of a task, or kIteration
  double measured_s = 0;
  double spread_fraction = 0;  // of the measurement
  double predicted_s = 0;
  std::optional<Interval> interval_s;  // 90 %

  [[nodiscard]] bool is_outside() const {
    return interval_s && (measured_s < interval_s->low || measured_s > interval_s->high);
  }
};

// All measured times of the run but its waits, the iteration last. The interval of a timer around several tasks
// is as wide as the widest of theirs.
[[nodiscard]] std::vector<JudgedTime> judged_times(const Run& run, const Prediction& prediction);

// Runs named in the coefficients' fit count as in sample, all others as held out.
[[nodiscard]] Accuracy validate(const Runs& runs, const Coefficients& coefficients);

}  // namespace sextant::inline calibrate
