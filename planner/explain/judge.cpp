#include "planner/explain/judge.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "costmodel/iteration.h"
#include "costmodel/terms/memory.h"
#include "sextant/error.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

constexpr double kRounding = 1e-9;  // of two predictions of plans that are alike

double normal_below(double deviations) { return 0.5 * std::erfc(-deviations / std::sqrt(2.0)); }

// Equal within rounding: neither is better.
double share_won(double log_ratio) {
  if (std::abs(log_ratio) <= kRounding) return 0.5;
  return log_ratio > 0 ? 1.0 : 0.0;
}

Judgement judgement_of(const Objective& objective, const Rented& rented, double iteration_s, bool fits) {
  return {loss_of(objective, iteration_s, rented),
          fits && overrun_of(objective, iteration_s, rented) <= kRounding};
}

template <typename Memories>
bool all_fit(const Memories& memories) {
  return std::all_of(memories.begin(), memories.end(), [](const auto& memory) { return memory.fits(); });
}

}  // namespace

bool Judgement::is_better_than(const Judgement& other) const {
  if (is_allowed != other.is_allowed) return is_allowed;
  return loss < other.loss * (1 - kRounding);
}

Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                const Prediction& prediction) {
  return judgement_of(request.objective, rented_by(plan, cluster), prediction.iteration_s, prediction.fits());
}

Judgement judge(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                const Coefficients& coefficients) {
  return judge(request, cluster, plan,
               predict(cluster, request.workflow, plan, coefficients, request.framework));
}

PreparedPlan::PreparedPlan(const PlanRequest& request, const Cluster& cluster, const Plan& plan)
    : request_(request), plan_(plan), rented_(rented_by(plan, cluster)), hardware_(cluster) {
  check_plan(plan, request.workflow, cluster);
  works_ = works_of(request.workflow, plan, cluster);
  fits_hosts_ = all_fit(host_memory(works_, cluster));
}

Judgement PreparedPlan::judge(const Coefficients& coefficients) const {
  return judge_with(hardware_, coefficients);
}

Judgement PreparedPlan::judge_on(const Cluster& cluster, const Coefficients& coefficients) const {
  return judge_with(Hardware<double>(cluster), coefficients);
}

Judgement PreparedPlan::judge_with(const Hardware<double>& hardware, const Coefficients& coefficients) const {
  const Problem<double> problem(request_.workflow, plan_, hardware,
                                resolve(coefficients, hardware, request_.framework));
  const double iteration_s = iteration_cost(problem, std::span<const TaskWork>(works_)).iteration_s;
  const bool fits =
      fits_hosts_ && all_fit(plan_memory(works_, hardware.cluster(), problem.coefficients, problem.hardware));
  return judgement_of(request_.objective, rented_, iteration_s, fits);
}

std::optional<double> usd_of(const Cluster& cluster, const Plan& plan, double iteration_s) {
  for (const auto& [name, task] : plan.tasks) {
    for (const DeviceId device : task.devices()) {
      if (!cluster.type_of(device).price_usd_per_hour) return std::nullopt;
    }
  }
  return usd_per_iteration(rented_by(plan, cluster), iteration_s);
}

std::vector<double> losses_under(const PlanRequest& request, const Cluster& cluster, const Plan& plan,
                                 const CoefficientUncertainty& doubt) {
  std::vector<double> losses;
  const PreparedPlan prepared(request, cluster, plan);
  for (const Coefficients& draw : doubt.draws) losses.push_back(prepared.judge(draw).loss);
  return losses;
}

std::optional<Chance> chance_of(const std::vector<double>& first, const std::vector<double>& second,
                                std::optional<double> model_log_deviation) {
  SEXTANT_CHECK(first.size() == second.size());
  if (first.empty()) return std::nullopt;
  constexpr double kTail = 0.05;
  const bool has_model = model_log_deviation && *model_log_deviation > 0;
  const double deviation = has_model ? std::sqrt(2.0) * *model_log_deviation : 1;  // of a difference of two
  double won = 0, won_with_model = 0;
  std::vector<double> ratios;
  for (std::size_t draw = 0; draw < first.size(); ++draw) {
    ratios.push_back(second[draw] / first[draw]);
    const double log_ratio = std::log(ratios.back());
    won += share_won(log_ratio);
    won_with_model += normal_below(log_ratio / deviation);
  }
  const auto count = static_cast<double>(first.size());
  Chance chance{won / count, std::nullopt, {quantile(ratios, kTail), quantile(ratios, 1 - kTail)}};
  if (has_model) chance.probability_with_model_error = won_with_model / count;
  return chance;
}

}  // namespace sextant::inline planner
