// How far to trust a prediction: intervals from what the fit knows and what held-out runs showed, the nearest
// calibrated run, and what the prediction hangs on.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant {

// The question that a prediction answered.
struct PredictionQuery {
  const Cluster& cluster;
  const Workflow& workflow;
  const Plan& plan;
  const Coefficients& coefficients;
  std::string_view framework;
};

// Deviation of the logarithm of an iteration that the model itself leaves beside the spread of its
// coefficients: of held-out runs where the fit was cross-validated, else of the errors in sample. Near what was
// calibrated.
[[nodiscard]] double model_log_deviation(const FitSummary& fit);

// Sets the 90 % intervals of tasks and iteration and how familiar the tasks are. The variance of a logarithm is
// that of the coefficients (posterior.h) and that of the model itself: of held-out runs where the fit was
// cross-validated, else of the errors in sample, more the farther a task lies outside
// of what was calibrated (familiarity.h). A framework that no run showed may have no controller: the
// intervals then reach down to those of a loop. Where nobody fitted the coefficients no time gets an interval.
// Memory always gets its interval and its probability of fitting: of a device from the coefficients' variance
// (that of the device which needs most) and from what the model left on measured peaks, or a usual deviation
// where no run of the fit has one; of a host from a usual deviation.
void qualify(Prediction& prediction, const PredictionQuery& asked);

// Standard deviation of the logarithm of a device's predicted memory, without that of the coefficients: of runs
// that the fit left out or saw, or a usual one.
[[nodiscard]] double memory_log_deviation(const Coefficients& coefficients);

// The same with the cost model's answer made first.
[[nodiscard]] Prediction predict_with_trust(const PredictionQuery& asked);

// Elasticity of the iteration by every coefficient and every number of the cluster; the coefficients with their
// share of the variance that the fit leaves. Largest first, the coefficients before the hardware.
[[nodiscard]] std::vector<Sensitivity> sensitivities_of(const PredictionQuery& asked);

}  // namespace sextant
