// What is compared of two plans: what the objective lowers - the time of an iteration unless it asks for
// something else - and whether a plan can be had at all.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "documents/explanation.h"
#include "sextant/planner.h"

namespace sextant {

struct Judgement {
  double loss = 0;
  bool is_allowed = true;  // fits in memory, within the objective's limits

  // By more than rounding.
  [[nodiscard]] bool is_better_than(const Judgement& other) const;
};

// By the request's workflow, framework and objective.
[[nodiscard]] Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                              const Coefficients& coefficients);
[[nodiscard]] Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                              const Prediction& prediction);

// A plan that is judged by many coefficients: what does not depend on them is made once. The same judgement as
// above. The request, the cluster and the plan must outlive it.
class PreparedPlan {
 public:
  // Throws Error(bad_input) as check_plan does.
  PreparedPlan(const PlanRequest& request, const Cluster& cluster, const Plan& plan);

  [[nodiscard]] Judgement judge(const Coefficients& coefficients) const;
  // On a cluster that differs in rates and memory of its device types alone.
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

// Dollars of an iteration, where all the plan's devices have prices.
[[nodiscard]] std::optional<double> usd_of(const Cluster& cluster, const Plan& plan, double iteration_s);

// What is not known of the coefficients.
struct CoefficientUncertainty {
  std::vector<Coefficients> draws;            // of all that they may be; none: no uncertainty is known
  std::optional<double> model_log_deviation;  // of an iteration, beside the coefficients
};

// By draw.
[[nodiscard]] std::vector<double> losses_under(const PlanRequest& request, const Cluster& cluster,
                                               const Plan& plan, const CoefficientUncertainty& doubt);

// That `first` is better than `second`, draw by draw: as many, in the same order. Equals count as half. Nothing
// without draws.
[[nodiscard]] std::optional<Chance> chance_of(const std::vector<double>& first,
                                              const std::vector<double>& second,
                                              std::optional<double> model_log_deviation);

}  // namespace sextant
