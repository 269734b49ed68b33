// What a fit leaves beside the coefficients: the posterior, and what the sources left unsaid.
#pragma once

#include <vector>

#include "calibrate/posterior.h"
#include "calibrate/residuals.h"
#include "calibrate/unstated.h"
#include "sextant/coefficients.h"
#include "sextant/fit.h"
#include "sextant/run.h"

namespace sextant {

struct FitResult {
  Coefficients coefficients;
  Posterior posterior;
  std::vector<UnstatedValue> unstated;  // by quantity and group; of those that any run depends on
};

// The same for many selections of one set of runs, each prepared once (cross-validation).
[[nodiscard]] FitResult fit_prepared(const Runs& runs, const std::vector<const PreparedRun*>& selected,
                                     const FitOptions& options = {}, const Coefficients& start = {});

}  // namespace sextant
