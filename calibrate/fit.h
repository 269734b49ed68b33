// The fix: coefficients from measured runs.
//
// Minimises the sum over measured times of huber(log(predicted / measured) / deviation) plus the priors, within
// the table's bounds, with Ceres and exact derivatives. Coefficients that the runs do not determine stay at
// their prior with a wide interval and are marked not identified; bounds that hold a coefficient are named.
#pragma once

#include <string>
#include <vector>

#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/run.h"

namespace sextant {

struct FitOptions {
  double huber_deviations = 2.0;  // residuals beyond so many deviations count linearly
  int most_iterations = 200;
  double prior_weight = 1;  // 0 < w: deviations of the priors are divided by it
  // Identified: the runs shrink the prior's deviation at least to this share.
  double identified_share = 0.6;
};

// `selected`: names of the runs to learn from; at least one. `start`: priors, beyond the table's.
// Throws Error(bad_input) for an unknown or empty selection. Not converging is no error: it is in the result.
[[nodiscard]] Coefficients fit_coefficients(const Runs& runs, const std::vector<std::string>& selected,
                                            const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant
