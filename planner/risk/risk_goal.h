// The plan with the best percentile, or the best mean, of the time under uncertain inputs.
//
// No search minimises percentiles, so several searches propose plans: one for the values as documented, and
// one for each of a few draws. For a percentile these are draws in which the first plan takes about that time,
// for the mean they range from fast to slow. All plans are then evaluated with the same draws: first with some
// of them, then the better half with all. The answer is the best plan, and never worse than the plan that is
// fastest at the documented values. Source: sample average approximation, with the plans of the searches in
// place of all plans.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/risk/draws.h"
#include "sextant/planner.h"

namespace sextant {

struct RiskGoal {
  std::optional<double> percentile;  // 0.9: nine of ten times are no longer; absent: the mean
};

// Returns "p90", or "mean".
[[nodiscard]] std::string name_of(const RiskGoal& goal);

// The quantile or the mean of the times of one plan, in seconds.
[[nodiscard]] double risk_of(const RiskGoal& goal, const std::vector<double>& times_s);

struct RiskAnswer {
  Plan plan;
  double at_goal_s = 0;          // the plan's quantile or mean
  double fastest_at_goal_s = 0;  // the same for the plan that is fastest at the documented values
  std::size_t plans = 0;         // number of different plans that were evaluated
  std::size_t draws = 0;
};

struct RiskSearch {
  RiskGoal goal;
  const std::vector<RiskDraw>& draws;
  int searches = 4;  // in addition to the first
  // Returns a plan for such a request, if there is an acceptable one.
  std::function<std::optional<Plan>(const PlanRequest&)> plan;
};

// `first`: a plan for the request. Each search has the request's budget.
[[nodiscard]] RiskAnswer plan_for_risk(const PlanRequest& request, const Plan& first, const RiskSearch& search);

}  // namespace sextant
