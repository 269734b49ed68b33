// Fitted coefficients with their intervals, one chart per kind of axis.
#pragma once

#include <string>
#include <vector>

#include "reports/content/content.h"
#include "sextant/coefficients.h"

namespace sextant::charts {

enum class CoefficientAxis {
  ratio,    // logarithmic: value / neutral
  weight,   // linear, a pure number
  seconds,  // linear, a time: drawn on a symmetric logarithm, because overheads span decades and may be zero
};

[[nodiscard]] CoefficientAxis axis_of(const CoefficientSpec& spec);

// "identified", "not identified" (the prior stands) or "at a bound".
[[nodiscard]] std::string status_of(const Coefficient& coefficient);

// "training efficiency", "layer overhead": without the unit, which is next to the numbers
[[nodiscard]] std::string short_name(const CoefficientSpec& spec);

// "training efficiency · cpu-core"
[[nodiscard]] std::string label_of(const Coefficient& coefficient);

// Returns the coefficients that belong on this axis; null if there are none.
[[nodiscard]] Json coefficient_intervals(const std::vector<Coefficient>& coefficients, CoefficientAxis axis);

}  // namespace sextant::charts
