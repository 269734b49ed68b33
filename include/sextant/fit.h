// The fix: coefficients from measured runs.
//
// Minimises the sum over measured times of huber(log(predicted / measured) / deviation) plus the priors, within
// the table's bounds, with Ceres and exact derivatives (dual numbers). Coefficients that the runs do not
// determine stay at their prior with a wide interval and are marked not identified; bounds that hold a
// coefficient are named.
//
// What a source does not say (Unstated) is a parameter with a prior too, shared by the runs of its group; the
// logarithm of the prediction is linearised in it. Where no run of a group depends on it there is no parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant {

struct FitOptions {
  double huber_deviations = 2.0;  // residuals beyond so many deviations count linearly
  int max_iterations = 200;
  double prior_weight = 1;  // 0 < w: deviations of the priors are divided by it
  // Identified: the runs shrink the prior's deviation at least to this share.
  double identified_share = 0.6;
  // Correlation of the errors of runs that differ in counts only (same models, lengths, parallel degrees and
  // micro-batch): n of them weigh as n / (1 + (n - 1) * correlation) independent ones.
  double likeness_correlation = 0.1;
  // Spread that the model itself leaves, beyond that of the measurement: of the logarithm. Absent: as the
  // errors show it, so that priors keep their say where the model cannot follow the runs anyway.
  std::optional<double> model_log_deviation;
};

// `selected`: names of the runs to learn from; at least one. `start`: priors, beyond the table's.
// Throws Error(bad_input) for an unknown or empty selection. Not converging is no error: it is in the result.
[[nodiscard]] Coefficients fit_coefficients(const Runs& runs, const std::vector<std::string>& selected,
                                            const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant
