// What a reader should know before trusting the numbers.
#pragma once

#include <vector>

#include "reports/content/content.h"
#include "reports/content/report_input.h"

namespace sextant {

// Above these the report warns; they are what the project promises for a machine it has measured.
inline constexpr double kTaskErrorLimit = 0.15;
inline constexpr double kIterationErrorLimit = 0.10;
inline constexpr double kSpreadLimit = 0.10;    // of a run's iteration times
inline constexpr double kCoverageLimit = 0.80;  // of intervals that should cover 90 %

[[nodiscard]] std::vector<Warning> report_warnings(const ReportInput& input);

}  // namespace sextant
