// The start of a fit that knows all coefficients except some.
#pragma once

#include <algorithm>
#include <vector>

#include "sextant/coefficients.h"

namespace sextant::test {

// Returns all coefficients at their values in `truth`, which must hold every one: the open ones with the width
// of the table's priors times `widening`, the others almost fixed.
inline Coefficients knowing_all_but(const std::vector<CoefficientId>& open, const Coefficients& truth,
                                    double widening = 1) {
  constexpr double kKnown = 1e-5;  // relative to the table's width
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

}  // namespace sextant::test
