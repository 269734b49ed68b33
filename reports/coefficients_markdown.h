// The table of coefficients as a page for people: docs/coefficients.md.
#pragma once

#include <string>

namespace sextant::inline reports {

// Returns the meaning of every coefficient, its unit, neutral value, bounds and prior.
[[nodiscard]] std::string coefficients_as_markdown();

}  // namespace sextant::inline reports
