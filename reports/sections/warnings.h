// Warnings that a reader should see before trusting the numbers.
#pragma once

#include <vector>

#include "reports/content/content.h"
#include "reports/content/report_input.h"

namespace sextant::inline reports {

// The report warns above these limits; the project promises them for a machine that it has measured.
inline constexpr double kTaskErrorLimit = 0.15;
inline constexpr double kIterationErrorLimit = 0.10;
inline constexpr double kSpreadLimit = 0.10;    // spread of a run's iteration times
inline constexpr double kCoverageLimit = 0.80;  // coverage of intervals that should cover 90 %

[[nodiscard]] std::vector<Warning> report_warnings(const ReportInput& input);

}  // namespace sextant::inline reports
