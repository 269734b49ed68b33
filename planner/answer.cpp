#include "planner/answer.h"

#include "core/units.h"
#include "planner/exact/bound.h"
#include "planner/verify/framework_rules.h"
#include "sextant/error.h"

namespace sextant::inline planner {

void require_feasible(const Verdict& verdict) {
  if (verdict.feasible()) return;
  std::string all;
  for (const Violation& violation : verdict.violations) {
    all += (all.empty() ? "" : "; ") + describe(violation);
  }
  throw_machine_failed("internal error: the planner returned a plan that cannot be run: " + all);
}

void check_answer(const PlanRequest& request, PlanResult& result) {
  result.bound_of_all_s = min_iteration_s(request);
  if (has_prices(request.cluster)) result.bound_of_all_usd = min_usd_per_iteration(request);
  if (!result.plan) return;
  Verdict verdict = verify_plan(request.cluster, request.workflow, *result.plan, request.coefficients,
                                request.framework, request.limits.pins);
  // A plan to start from and pinned layouts may be what the framework cannot run, as may those of planners that
  // size layers and shares by speed.
  const bool keeps_rules =
      request.start == nullptr && request.limits.pins.empty() && !request.limits.balances_load;
  if (keeps_rules) {
    for (Violation& violation :
         framework_violations(*result.plan, request.workflow, request.choices, request.engine_rules))
      verdict.violations.push_back(std::move(violation));
  }
  require_feasible(verdict);
  constexpr double kRounding = 1e-6;  // relative, of sums in another order
  const double iteration_s = result.prediction->iteration_s;
  if (iteration_s < result.bound_of_all_s * (1 - kRounding)) {
    throw_machine_failed("internal error: the planner returned a plan that takes " +
                         format_seconds(iteration_s) + ", less than the lower bound of any plan, " +
                         format_seconds(result.bound_of_all_s));
  }
}

}  // namespace sextant::inline planner
