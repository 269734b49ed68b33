// A fit as text for a terminal: what the runs said about the coefficients, and what they did not.
#pragma once

#include <string>

#include "sextant/coefficients.h"

namespace sextant::cli {

// A table of the coefficients that the runs identified or drove to a bound, or of all; one line counts the
// rest, one names each at a bound. Then pairs that are not told apart, outliers, and errors on runs left out.
[[nodiscard]] std::string describe_fit(const Coefficients& fitted, bool all_coefficients);

}  // namespace sextant::cli
