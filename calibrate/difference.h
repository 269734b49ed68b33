// Compares two coefficients documents: which values differ, and by how many standard errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant::inline calibrate {

struct CoefficientDifference {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};
  std::string framework{kAny};
  double before = 0;
  double after = 0;
  // The difference in combined standard errors, of the logarithms if the fit moves the coefficient by factors.
  // Absent if a document states no error.
  std::optional<double> deviations;

  friend bool operator==(const CoefficientDifference&, const CoefficientDifference&) = default;
};

// Returns every coefficient and owner that either document has an entry for and whose values differ, in the
// order of the table. If a document has no entry, the value that its other entries imply is compared.
[[nodiscard]] std::vector<CoefficientDifference> differences(const Coefficients& before,
                                                             const Coefficients& after);

}  // namespace sextant::inline calibrate
