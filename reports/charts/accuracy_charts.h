// Charts of predictions against measurements.
#pragma once

#include <vector>

#include "calibrate/accuracy.h"
#include "reports/content/content.h"

namespace sextant::charts {

inline constexpr double kErrorBand = 0.15;  // drawn around the identity

// Logarithmic axes can show positive times only; returns an empty spec (null) if there are none.
[[nodiscard]] Json predicted_against_measured(const std::vector<ComparedTime>& times);

// Signed errors of the held-out times, one row per task.
[[nodiscard]] Json errors_by_task(const std::vector<ComparedTime>& times);

}  // namespace sextant::charts
