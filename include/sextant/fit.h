// The fit: coefficients from measured runs.
//
// The fit minimises the sum over measured times of huber(log(predicted / measured) / deviation) plus the
// priors, within the table's bounds, with Ceres and exact derivatives (dual numbers). Coefficients that the
// runs do not determine stay at their prior with a wide interval and are marked as not identified. Bounds that
// hold a coefficient are reported.
//
// The iteration less its timers is a measured time too, that of the controller, if the tasks of a run follow each
// other and all are timed.
//
// An Unstated quantity is a parameter with a prior too, shared by the runs of its group if one of them depends
// on it; the logarithm of the prediction is linearised in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant {

struct FitOptions {
  double huber_deviations = 2.0;  // residuals beyond this many deviations count linearly
  int max_iterations = 200;
  double prior_weight = 1;  // > 0: the deviations of the priors are divided by it
  // A coefficient is identified if the runs shrink the deviation of its prior to at most this share.
  double identified_share = 0.6;
  // Correlation of the errors of runs that differ in counts only (same models, lengths, parallel degrees and
  // micro-batch): n such runs weigh as n / (1 + (n - 1) * correlation) independent ones.
  double likeness_correlation = 0.1;
  // Deviation of the logarithm that the model itself leaves, in addition to that of the measurement. If unset,
  // it is estimated from the residuals, so that priors keep their weight where the model is misspecified.
  std::optional<double> model_log_deviation;
};

// `selected`: names of the runs to fit; at least one. `start`: priors that replace the table's. Throws
// Error(bad_input) for an unknown or empty selection. A fit that does not converge is reported in the result.
[[nodiscard]] Coefficients fit_coefficients(const Runs& runs, const std::vector<std::string>& selected,
                                            const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant
