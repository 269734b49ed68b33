#include "planner/exact/exact.h"

#include <cmath>

#include "core/units.h"
#include "planner/exact/bound.h"
#include "planner/exact/deal_search.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

// The reason why nothing fits: the first task that does not fit alone, or all tasks together.
std::string shortage(UnitSpace& space, GroupCosts& costs) {
  const int all = space.share_count() - 1;
  for (int t = 0; t < space.tasks(); ++t) {
    const int pinned = space.pinned_share(t);
    if (!costs.within(TaskSet{1} << t, pinned != 0 ? pinned : all).is_possible()) {
      return "task " + space.request().workflow.tasks[static_cast<std::size_t>(t)].name +
             (pinned != 0 ? " does not fit where it is pinned" : " fits on no part of the cluster") +
             ": its weights, states and working sets exceed the devices";
    }
  }
  return "every task fits alone, but not all together: weights, gradients and optimizer states exceed the "
         "devices";
}

// If plans fit but exceed the limits, the message has the fastest plan without limits.
std::string infeasibility_reason(const PlanRequest& request, const ExactLimits& limits, UnitSpace& space,
                                 GroupCosts& costs) {
  if (!request.objective.has_limits()) return "no plan of the space fits: " + shortage(space, costs);
  PlanRequest unlimited = request;
  unlimited.objective = {};
  unlimited.on_improvement = {};
  ExactLimits cold = limits;
  cold.start = nullptr;
  const PlanResult fastest = plan_exactly(unlimited, cold);
  if (fastest.outcome != PlanOutcome::found)
    return fastest.proof == Proof::optimal ? fastest.message : "no plan of the space keeps the limits";
  std::string message = "no plan of the space keeps the limits that were asked for; the fastest of all takes " +
                        format_seconds(fastest.prediction->iteration_s);
  const Rented rented = rented_by(*fastest.plan, request.cluster);
  if (rented.usd_per_hour > 0) message += " for " + format_number(rented.usd_per_hour) + " dollars an hour";
  return message;
}

// Uses the start plan as incumbent if it satisfies the limits.
void start_from_incumbent(const PlanRequest& request, const PlanResult& start, ProofProgress& progress) {
  const Rented rented = rented_by(*start.plan, request.cluster);
  const double iteration_s = start.prediction->iteration_s;
  if (overrun_of(request.objective, iteration_s, rented) <= 0) progress.set_incumbent(iteration_s, rented);
}

std::string when(const PlanRequest& request, Proof proof) {
  if (proof == Proof::optimal) return "";
  if (proof == Proof::gap) return " until the budget of nodes was spent";
  const bool is_cancelled = request.is_cancelled != nullptr && request.is_cancelled->load();
  return is_cancelled ? " until it was cancelled" : " until the time was spent";
}

std::string message_of(const PlanRequest& request, const PlanResult& result, bool is_start) {
  return (is_start ? "nothing better than the plan it began with" : "the best plan of the space") +
         when(request, result.proof) + "; " + std::to_string(result.nodes) + " nodes, " +
         std::to_string(result.candidates) + " plans costed";
}

// The plan that the search found, or the start plan if that was not improved.
void fill_plan(const PlanRequest& request, const ExactLimits& limits, const ProofProgress& progress,
               const Evaluator& evaluator, PlanResult& result) {
  if (progress.has_best()) {
    result.plan = evaluator.plan_of(progress.best(), request.workflow.name + "-exact");
    result.prediction =
        predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
    return;
  }
  result.plan = limits.start->plan;
  result.prediction = limits.start->prediction;
}

}  // namespace

PlanResult plan_exactly(const PlanRequest& request, const ExactLimits& limits) {
  PlanResult result;
  const std::string reason = size_limit_reason(request.cluster, limits.wanted_units, request.limits.pins);
  if (!reason.empty()) {
    result.outcome = PlanOutcome::too_large;
    result.message = reason;
    return result;
  }
  ProofProgress progress(request, min_iteration_s(request));
  if (limits.start != nullptr && limits.start->prediction)
    start_from_incumbent(request, *limits.start, progress);
  const bool has_start = std::isfinite(progress.best_loss());
  UnitSpace space(request, limits.wanted_units);
  if (!space.infeasible_pin_reason().empty()) {
    result.proof = Proof::optimal;
    result.message = space.infeasible_pin_reason();
    return result;
  }
  const SyncCost sync(space);
  GroupCosts costs(space, sync, progress);
  AssignmentSearch deals(space, sync, costs, progress);
  if (request.objective.needs_devices()) {
    search_rents(space, deals, progress);
  } else {
    search_groupings(space, deals, progress);
  }

  result.nodes = progress.nodes();
  result.candidates = result.feasible = progress.evaluations();
  result.improvements = progress.improvements();
  result.proof = progress.is_stopped() ? progress.stopped_by() : Proof::optimal;
  result.lower_bound = progress.lower_bound();
  if (!progress.has_best() && !has_start) {
    result.lower_bound = result.proof == Proof::optimal ? 0 : result.lower_bound;
    result.message = result.proof == Proof::optimal ? infeasibility_reason(request, limits, space, costs)
                                                    : "the search ended before a plan that fits was found";
    return result;
  }
  result.outcome = PlanOutcome::found;
  fill_plan(request, limits, progress, space.evaluator(), result);
  result.gap_fraction = progress.best_loss() / result.lower_bound - 1;
  result.message = message_of(request, result, !progress.has_best());
  return result;
}

}  // namespace sextant::inline planner
