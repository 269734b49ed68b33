// Where a fit starts that knows all coefficients but some.
#pragma once

#include <algorithm>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant::testing {

// All at their values in `truth`, which must hold every coefficient: the open ones with the width of the
// table's priors times `widening`, the others hardly free to move.
inline Coefficients knowing_all_but(const std::vector<CoefficientId>& open, const Coefficients& truth,
                                    double widening = 1) {
  constexpr double kKnown = 1e-5;  // of the table's width
  Coefficients start;
  for (const CoefficientSpec& spec : coefficient_table()) {
    Coefficient entry;
    entry.id = spec.id;
    entry.value = truth.value(spec.id);
    entry.prior = entry.value;
    const bool is_open = std::find(open.begin(), open.end(), spec.id) != open.end();
    entry.standard_error = spec.prior_deviation * (is_open ? widening : kKnown);
    start.values.push_back(entry);
  }
  return start;
}

}  // namespace sextant::testing
