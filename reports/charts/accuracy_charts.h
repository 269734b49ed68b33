// Charts of predictions against measurements.
#pragma once

#include <vector>

#include "calibrate/accuracy.h"
#include "reports/content/content.h"

namespace sextant::charts {

inline constexpr double kErrorBand = 0.15;  // drawn around the identity

// Only positive times can be drawn on logarithmic axes; nothing to draw gives an empty spec (null).
[[nodiscard]] Json predicted_against_measured(const std::vector<ComparedTime>& times);

// Signed errors of the held-out times, one row a task.
[[nodiscard]] Json errors_by_task(const std::vector<ComparedTime>& times);

}  // namespace sextant::charts
