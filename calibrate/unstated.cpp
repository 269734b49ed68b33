#include "calibrate/unstated.h"

#include <cmath>

namespace sextant {

std::vector<double> log_slopes(const PreparedRun& run, UnstatedQuantity quantity, const RunPredictor& predict) {
  constexpr double kLengthStep = 0.1;
  Runs changed;
  changed.clusters.emplace(run.run().cluster, run.cluster());
  Workflow workflow = run.workflow();
  Plan plan = run.plan();
  double step = 1;
  if (quantity == UnstatedQuantity::response_tokens) {
    step = kLengthStep;
    workflow.response_tokens = scaled(workflow.response_tokens, std::exp(step));
  } else {
    for (auto& [name, task] : plan.tasks) task.recompute = Recompute::full;
  }
  changed.workflows.emplace(run.run().workflow, std::move(workflow));
  changed.plans.emplace(run.run().plan, std::move(plan));
  const std::vector<double> before = predict(run), after = predict(PreparedRun(changed, run.run()));
  std::vector<double> slopes;
  for (std::size_t t = 0; t < before.size(); ++t) slopes.push_back(std::log(after[t] / before[t]) / step);
  return slopes;
}

UnstatedRange range_of(UnstatedQuantity quantity) {
  constexpr double kLargestLogLength = 2;
  if (quantity == UnstatedQuantity::recompute) return {0, 1};
  return {-kLargestLogLength, kLargestLogLength};
}

std::vector<double> unstated_factors(const PreparedRun& run, const std::vector<UnstatedValue>& values,
                                     const RunPredictor& predict) {
  std::vector<double> factors(run.times().size(), 1.0);
  for (const Unstated& unstated : run.run().unstated) {
    for (const UnstatedValue& value : values) {
      if (value.quantity != unstated.quantity || value.group != unstated.group || value.value == 0) continue;
      const std::vector<double> slopes = log_slopes(run, value.quantity, predict);
      for (std::size_t t = 0; t < factors.size(); ++t) factors[t] *= std::exp(slopes[t] * value.value);
    }
  }
  return factors;
}

std::vector<double> unstated_variances(const PreparedRun& run, const std::vector<UnstatedValue>& values,
                                       const RunPredictor& predict) {
  std::vector<double> variances(run.times().size(), 0.0);
  for (const Unstated& unstated : run.run().unstated) {
    double deviation = unstated.deviation;
    for (const UnstatedValue& value : values) {
      if (value.quantity == unstated.quantity && value.group == unstated.group) deviation = value.deviation;
    }
    const std::vector<double> slopes = log_slopes(run, unstated.quantity, predict);
    for (std::size_t t = 0; t < variances.size(); ++t) variances[t] += std::pow(slopes[t] * deviation, 2);
  }
  return variances;
}

}  // namespace sextant
