// The steps of a log that can be samples, in bands of similar response lengths.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/records/log_times.h"
#include "calibrate/import/verl/driver_dialect.h"
#include "calibrate/import/verl/verl_setup.h"
#include "calibrate/import/verl/verl_source.h"

namespace sextant::inline calibrate {

inline constexpr const char* kResponseMean = "response_length/mean";

// Whether the framework times the parts of a step. `dialect`: null for verl's own logs.
[[nodiscard]] bool times_parts(const DriverDialect* dialect);

// Steps of the log that have lengths and times of the whole and, if there are such, of generation and training.
[[nodiscard]] std::vector<const VerlStep*> usable_steps(const VerlLog& log, const DriverDialect* dialect);

// Metrics that no step of the log has, such as "the mean response length".
[[nodiscard]] std::vector<std::string> lacking_metrics(const VerlLog& log, const DriverDialect* dialect);

// The tasks that the times of a log name.
[[nodiscard]] VerlTasks named_tasks(const std::vector<VerlStep>& steps, const DriverDialect* dialect);

// Bands of the usable steps, shortest responses first. A band of fewer than three steps is left out if another
// has more.
struct StepBands {
  std::vector<LogBand> bands;
  std::vector<LeftOut> left_out;
};
[[nodiscard]] StepBands step_bands(const VerlSource& source, const DriverDialect* dialect);

}  // namespace sextant::inline calibrate
