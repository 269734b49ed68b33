// The plan that is best at a percentile, or in expectation, over what may turn out otherwise.
//
// No search knows percentiles. So several searches find plans: one for the values as documented, and one for
// each of a few draws: for a percentile those in which the first plan takes about so long, for the expectation
// draws from fast to slow. All plans are then judged by the same draws, first by some of them, the better half
// by all; the answer is the best, and never worse than the plan that is the
// fastest at the documented values. Source: sample average approximation,
// with plans from searches in place of all plans.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/risk/draws.h"
#include "sextant/planner.h"

namespace sextant {

struct RiskGoal {
  std::optional<double> percentile;  // 0.9: nine times out of ten it takes no longer; none: the expectation
};

// "p90", or "mean".
[[nodiscard]] std::string name_of(const RiskGoal& goal);

// The quantile or the mean of the times of one plan, in s.
[[nodiscard]] double risk_of(const RiskGoal& goal, const std::vector<double>& times_s);

struct RiskAnswer {
  Plan plan;
  double at_goal_s = 0;          // the plan's quantile or mean
  double fastest_at_goal_s = 0;  // that of the plan that is the fastest at the documented values
  std::size_t plans = 0;         // different ones that were judged
  std::size_t draws = 0;
};

struct RiskSearch {
  RiskGoal goal;
  const std::vector<RiskDraw>& draws;
  int searches = 4;  // beside the first
  // A plan of such a request, where there is one that may be taken.
  std::function<std::optional<Plan>(const PlanRequest&)> plan;
};

// `first`: a plan of the request. Each search has the request's budget.
[[nodiscard]] RiskAnswer plan_for_risk(const PlanRequest& request, const Plan& first, const RiskSearch& search);

}  // namespace sextant
