// The result of a fit: coefficients, the posterior, and values for unstated quantities.
#pragma once

#include <vector>

#include "calibrate/posterior.h"
#include "calibrate/residuals.h"
#include "calibrate/unstated.h"
#include "sextant/coefficients.h"
#include "sextant/fit.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

struct FitResult {
  Coefficients coefficients;
  Posterior posterior;
  std::vector<UnstatedValue> unstated;  // by quantity and group; only those that a run depends on
};

// Like fit, for many selections of one set of runs, each prepared once (cross-validation).
[[nodiscard]] FitResult fit_prepared(const Runs& runs, const std::vector<const PreparedRun*>& selected,
                                     const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant::inline calibrate
