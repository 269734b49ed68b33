// The plan with the best percentile, or the best mean, of the time under uncertain inputs.
//
// No search minimises percentiles, so several searches propose plans: one for the values as documented, and
// one for each of a few draws. For a percentile these are draws in which the first plan takes about that time,
// for the mean they range from fast to slow. All plans are then evaluated with the same draws: first with some
// of them, then the better half with all. The answer is the best plan, and never worse than the plan that is
// fastest at the documented values. Source: sample average approximation, with the plans of the searches in
// place of all plans.
//
// If the spread of a plan's time is known (RiskSearch::spread_of), draws of coefficients only propose plans. They
// do not evaluate them: a sum of terms that are each log-normal has a median above the sum at the fitted values (11 %
// above it for 14B on 32 H100), while the intervals around the time at the fitted values are those that held-out
// runs were compared with. The time in every draw of lengths and links is then a distribution with that spread, and
// the percentile is that of their mixture, without sampling error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/risk/draws.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

struct RiskGoal {
  std::optional<double> percentile;  // 0.9: nine of ten times are no longer; absent: the mean
};

// Returns "p90", or "mean".
[[nodiscard]] std::string name_of(const RiskGoal& goal);

// Standard deviations of the logarithm of a time around its value at the documented coefficients, below and above
// it, each for half of the probability.
struct LogSpread {
  double below = 0;
  double above = 0;
};

// The quantile or the mean of one plan's time in seconds: one of these times, with equal probability, and its spread.
[[nodiscard]] double risk_of(const RiskGoal& goal, const std::vector<double>& times_s,
                             const LogSpread& spread = {});

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
  // The spread from coefficients and model. Empty: the draws are all that is uncertain.
  std::function<LogSpread(const Plan&)> spread_of = {};
};

// `first`: a plan for the request. Each search has the request's budget.
[[nodiscard]] RiskAnswer plan_for_risk(const PlanRequest& request, const Plan& first, const RiskSearch& search);

}  // namespace sextant::inline planner
