// The whole model in one call: time, breakdown, memory, timeline and bottleneck of one plan; and the reliability of
// that prediction: intervals from the fit and its held-out runs, the nearest calibrated run, and the numbers that
// the prediction depends on most.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant {

// Predicts one plan, after check_plan. Values that the plan leaves out are filled in (fill_in_unstated) and
// listed in the notes of the prediction. The result has no intervals; qualify() adds them. `framework`
// selects the coefficients of one framework.
[[nodiscard]] Prediction predict(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                 const Coefficients& coefficients, std::string_view framework = kAny);

// The inputs of a prediction.
struct PredictionQuery {
  const Cluster& cluster;
  const Workflow& workflow;
  const Plan& plan;
  const Coefficients& coefficients;
  std::string_view framework;
};

// Deviation of the logarithm of an iteration that the model itself leaves, in addition to the spread of its
// coefficients: from held-out runs if the fit was cross-validated, otherwise from the errors in sample; for a fit
// that started from another one, what that one knew of the model is in it.
[[nodiscard]] double model_log_deviation(const FitSummary& fit);

// Sets the 90 % intervals of the tasks and the iteration, and the familiarity of the tasks. The variance of a
// logarithm is the sum of that of the coefficients (posterior.h) and that of the model itself; the latter comes
// from held-out runs if the fit was cross-validated, otherwise from the errors in sample, and grows with a
// task's distance from the calibrated ones (familiarity.h); away from these the errors of the fit from which this
// one started come back (calibrate/familiarity.h). A framework without calibrated runs may have no
// controller: the intervals then extend down to the times of a loop. Times get no interval if the coefficients
// were not fitted. Memory always gets its interval and its probability of fitting. For a device they follow
// from the coefficients' variance (that of the fullest device) and from the model's errors on measured peaks,
// or a default deviation if no run of the fit has a peak; for a host from a default deviation. KV caches of
// stated size have no error: only the rest of what a device needs while a task runs is uncertain.
void qualify(Prediction& prediction, const PredictionQuery& asked);

// Standard deviation of the logarithm of a device's predicted memory, without that of the coefficients and
// without KV caches of stated size: from runs that the fit held out or used, or a default.
[[nodiscard]] double memory_log_deviation(const Coefficients& coefficients);

// The device with the highest risk: the probability that it runs out of memory, and the deviation of the
// logarithm of its need without KV caches of stated size. Absent if the plan uses no device.
struct MemoryRisk {
  double probability = 0;
  double log_deviation = 0;
};
[[nodiscard]] std::optional<MemoryRisk> memory_risk_of(const PredictionQuery& asked);

// Predicts with the cost model, then calls qualify().
[[nodiscard]] Prediction predict_with_trust(const PredictionQuery& asked);

// Elasticities of the iteration by every coefficient and every number of the cluster; coefficients also have
// their share of the variance that the fit leaves. Sorted by size, coefficients before hardware.
[[nodiscard]] std::vector<Sensitivity> sensitivities_of(const PredictionQuery& asked);

}  // namespace sextant
