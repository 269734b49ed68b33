// What a source leaves unsaid, as a parameter: how predictions change with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/residuals.h"

namespace sextant {

using RunPredictor = std::function<std::vector<double>(const PreparedRun&)>;

// Change of the logarithm of every prediction of a run when what is unstated changes by one: the logarithm of
// the mean response, or recomputation from none to full.
[[nodiscard]] std::vector<double> log_slopes(const PreparedRun& run, UnstatedQuantity quantity,
                                             const RunPredictor& predict);

// What it can be, relative to what the workflow or plan assumes.
struct UnstatedRange {
  double lower;
  double upper;
};
[[nodiscard]] UnstatedRange range_of(UnstatedQuantity quantity);

// A value that a fit found for the runs of one group.
struct UnstatedValue {
  UnstatedQuantity quantity = UnstatedQuantity::response_tokens;
  std::string group;
  double value = 0;
  double deviation = 0;  // that the fit leaves
};

// Factor on every prediction of a run from the values found for its groups.
[[nodiscard]] std::vector<double> unstated_factors(const PreparedRun& run,
                                                   const std::vector<UnstatedValue>& values,
                                                   const RunPredictor& predict);

// Variance of the logarithm of every prediction of a run that follows from what is unstated: with the deviation
// that the fit left of its groups, and the prior's of groups that the fit did not see.
[[nodiscard]] std::vector<double> unstated_variances(const PreparedRun& run,
                                                     const std::vector<UnstatedValue>& values,
                                                     const RunPredictor& predict);

}  // namespace sextant
