// The comparison of two plans: the value of the objective - the time of an iteration by default - and whether
// the plan is feasible.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "documents/explanation.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

struct Judgement {
  double loss = 0;
  bool is_allowed = true;  // fits in memory and respects the objective's limits

  // True if it is better by more than rounding.
  [[nodiscard]] bool is_better_than(const Judgement& other) const;
};

// Uses the request's workflow, framework and objective.
[[nodiscard]] Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                              const Coefficients& coefficients);
[[nodiscard]] Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                              const Prediction& prediction);

// A plan that is evaluated with many coefficients: everything independent of them is computed once. The result
// is the same as above. The request, the cluster and the plan must outlive it.
class PreparedPlan {
 public:
  // Throws Error(bad_input) like check_plan.
  PreparedPlan(const PlanRequest& request, const Cluster& cluster, const Plan& plan);

  [[nodiscard]] Judgement judge(const Coefficients& coefficients) const;
  // For a cluster that differs only in rates and memory sizes of its device types.
  [[nodiscard]] Judgement judge_on(const Cluster& cluster, const Coefficients& coefficients) const;

 private:
  [[nodiscard]] Judgement judge_with(const Hardware<double>& hardware, const Coefficients& coefficients) const;

  const PlanRequest& request_;
  const Plan& plan_;
  Rented rented_;
  Hardware<double> hardware_;
  std::vector<TaskWork> works_;
  bool fits_hosts_ = true;
};

// Dollars per iteration, if all the plan's devices have prices.
[[nodiscard]] std::optional<double> usd_of(const Cluster& cluster, const Plan& plan, double iteration_s);

// The uncertainty of the coefficients.
struct CoefficientUncertainty {
  std::vector<Coefficients> draws;            // samples of all coefficients; empty: no uncertainty is known
  std::optional<double> model_log_deviation;  // for an iteration, in addition to the coefficients
};

// The values of the objective, by draw.
[[nodiscard]] std::vector<double> losses_under(const PlanRequest& request, const Cluster& cluster,
                                               const Plan& plan, const CoefficientUncertainty& doubt);

// The chance that `first` is better than `second`, draw by draw; both have the same draws in the same order.
// Ties count as half. Returns nullopt without draws.
[[nodiscard]] std::optional<Chance> chance_of(const std::vector<double>& first,
                                              const std::vector<double>& second,
                                              std::optional<double> model_log_deviation);

}  // namespace sextant::inline planner
