#include "planner/exact/exact.h"

#include <algorithm>

#include "core/units.h"
#include "costmodel/predict.h"
#include "planner/exact/bound.h"
#include "planner/exact/deal_search.h"

namespace sextant {
namespace {

// Why nothing fits: the first task that has no place of its own, or all of them together.
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

// The plan that the search found, or the one that it could not beat.
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
  require_time_alone(request.objective, "exact");
  PlanResult result;
  const std::string reason = why_too_large(request.cluster, limits.wanted_units, request.limits.pins);
  if (!reason.empty()) {
    result.outcome = PlanOutcome::too_large;
    result.message = reason;
    return result;
  }
  const bool has_start = limits.start != nullptr && limits.start->prediction.has_value();
  ProofProgress progress(
      request, has_start ? limits.start->prediction->iteration_s : std::numeric_limits<double>::infinity(),
      least_iteration_s(request));
  UnitSpace space(request, limits.wanted_units);
  if (!space.stranded().empty()) {
    result.proof = Proof::optimal;
    result.message = space.stranded();
    return result;
  }
  const SyncCost sync(space);
  GroupCosts costs(space, sync, progress);
  DealSearch deals(space, sync, costs, progress);
  search_groupings(space, deals, progress);

  result.nodes = progress.nodes();
  result.candidates = result.feasible = progress.evaluations();
  result.improvements = progress.improvements();
  result.proof = progress.is_stopped() ? progress.stopped_by() : Proof::optimal;
  result.lower_bound_s = progress.lower_bound_s();
  if (!progress.has_best() && !has_start) {
    result.lower_bound_s = result.proof == Proof::optimal ? 0 : result.lower_bound_s;
    result.message = result.proof == Proof::optimal ? "no plan of the space fits: " + shortage(space, costs)
                                                    : "the search ended before a plan that fits was found";
    return result;
  }
  result.outcome = PlanOutcome::found;
  fill_plan(request, limits, progress, space.evaluator(), result);
  result.gap_fraction = progress.best_s() / result.lower_bound_s - 1;
  result.message = message_of(request, result, !progress.has_best());
  return result;
}

}  // namespace sextant
