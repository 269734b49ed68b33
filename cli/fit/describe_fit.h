// Describes a fit for a terminal: which coefficients the runs determined, and which they did not.
#pragma once

#include <string>

#include "sextant/coefficients.h"

namespace sextant::cli {

// Returns a table of the coefficients that the runs identified or drove to a bound, or of all; one line counts
// the rest, one lists each at a bound. Then confounded pairs, outliers, and errors on held-out runs.
[[nodiscard]] std::string describe_fit(const Coefficients& fitted, bool all_coefficients);

}  // namespace sextant::cli
