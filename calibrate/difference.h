// Two coefficients documents held against each other: what moved, and by more than the two fits are unsure of?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant {

struct CoefficientDifference {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};
  std::string framework{kAny};
  double before = 0;
  double after = 0;
  // Difference in standard errors of both together: of the logarithms where the fit moves them by factors.
  // Absent where a document states no error.
  std::optional<double> deviations;

  friend bool operator==(const CoefficientDifference&, const CoefficientDifference&) = default;
};

// Every coefficient and owner that either document has an entry for and whose values differ, in the order of
// the table; what a document has no entry for is what its other entries imply.
[[nodiscard]] std::vector<CoefficientDifference> differences(const Coefficients& before,
                                                             const Coefficients& after);

}  // namespace sextant
