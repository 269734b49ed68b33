#include "planner/explain/explain.h"

#include <algorithm>

#include "planner/explain/change.h"
#include "planner/explain/flips.h"
#include "planner/explain/parts.h"
#include "planner/explain/savings.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

Prediction predicted(const PlanRequest& request, const Cluster& cluster, const Plan& plan) {
  return predict(cluster, request.workflow, plan, request.coefficients, request.framework);
}

class Comparison {
 public:
  explicit Comparison(const Decided& decided)
      : decided_(decided),
        prediction_(predicted(decided.request, decided.request.cluster, decided.plan)),
        judgement_(judge(decided.request, decided.request.cluster, decided.plan, prediction_)),
        losses_(losses_under(decided.request, decided.request.cluster, decided.plan, decided.doubt)) {}

  [[nodiscard]] Alternative against(const FoundAlternative& found) const {
    Alternative alternative;
    alternative.name = found.name;
    alternative.outcome = found.result.outcome;
    alternative.message = found.result.message;
    if (found.result.outcome != PlanOutcome::found) return alternative;
    const PlanRequest& request = decided_.request;
    const Plan& plan = *found.result.plan;
    const Prediction prediction = predicted(request, request.cluster, plan);
    const Judgement other = judge(request, request.cluster, plan, prediction);
    if (!other.is_allowed) {
      alternative.outcome = PlanOutcome::infeasible;
      alternative.message = "its best plan is beyond the limits of the objective";
      return alternative;
    }
    fill(prediction, other, plan, alternative);
    alternative.is_same = plan.tasks == decided_.plan.tasks && plan.weight_sync == decided_.plan.weight_sync;
    alternative.chance = chance_of(losses_, losses_under(request, request.cluster, plan, decided_.doubt),
                                   decided_.doubt.model_log_deviation);
    return alternative;
  }

  // On another cluster, the plan there first.
  void fill_what_if(const Cluster& cluster, const Plan& plan, const Prediction& prediction,
                    WhatIf& what_if) const {
    const PlanRequest& request = decided_.request;
    what_if.outcome = PlanOutcome::found;
    what_if.message.clear();
    what_if.iteration_s = prediction.iteration_s;
    what_if.ratio = judge(request, cluster, plan, prediction).loss / judgement_.loss;
    what_if.usd_per_iteration = usd_of(cluster, plan, prediction.iteration_s);
    what_if.layouts = layouts_of(plan);
    what_if.differences = differences_of(prediction, prediction_);
    what_if.chance = chance_of(losses_under(request, cluster, plan, decided_.doubt), losses_,
                               decided_.doubt.model_log_deviation);
  }

 private:
  void fill(const Prediction& prediction, const Judgement& other, const Plan& plan,
            Alternative& alternative) const {
    alternative.message.clear();
    alternative.iteration_s = prediction.iteration_s;
    alternative.usd_per_iteration = usd_of(decided_.request.cluster, plan, prediction.iteration_s);
    alternative.ratio = other.loss / judgement_.loss;
    alternative.layouts = layouts_of(plan);
    alternative.differences = differences_of(prediction, prediction_);
  }

  const Decided& decided_;
  Prediction prediction_;
  Judgement judgement_;
  std::vector<double> losses_;
};

// Fastest first, those without a plan last.
bool comes_before(const Alternative& a, const Alternative& b) {
  const bool a_found = a.outcome == PlanOutcome::found, b_found = b.outcome == PlanOutcome::found;
  if (a_found != b_found) return a_found;
  return a_found && a.ratio < b.ratio;
}

std::vector<Rival> rivals_of(const std::vector<FoundAlternative>& found,
                             const std::vector<Alternative>& alternatives) {
  std::vector<Rival> rivals;
  for (const Alternative& alternative : alternatives) {
    if (alternative.outcome != PlanOutcome::found || alternative.is_same) continue;
    const auto source = std::find_if(found.begin(), found.end(), [&](const FoundAlternative& other) {
      return other.name == alternative.name;
    });
    rivals.push_back({alternative.name, &*source->result.plan});
  }
  return rivals;
}

// Planned anew there. PlanRequest refers to its cluster.
PlanResult plan_on(const Decided& decided, const Cluster& cluster, const Pins& pins) {
  const PlanRequest& old = decided.request;
  PlanRequest request = with_inputs(old, cluster, old.workflow, old.coefficients);
  request.limits.pins = pins;  // devices are numbered anew there
  return decided.planner.plan(request);
}

}  // namespace

Explanation heading_of(const Decided& decided) {
  const PlanRequest& request = decided.request;
  const Prediction prediction = predicted(request, request.cluster, decided.plan);
  Explanation heading;
  heading.workflow = request.workflow.name;
  heading.cluster = request.cluster.name();
  heading.planner = decided.planner.name;
  heading.plan = decided.plan.name;
  if (request.objective.goal == Goal::cost) heading.goal = "cost";
  if (request.objective.goal == Goal::devices) heading.goal = "devices";
  heading.iteration_s = prediction.iteration_s;
  heading.usd_per_iteration = usd_of(request.cluster, decided.plan, prediction.iteration_s);
  heading.layouts = layouts_of(decided.plan);
  heading.bottleneck = prediction.bottleneck;
  heading.parts = parts_of(prediction);
  heading.devices = uses_of(request.cluster, prediction);
  heading.draws = static_cast<int>(decided.doubt.draws.size());
  return heading;
}

Explanation explain(const Decided& decided, const AlternativeLimits& limits) {
  Explanation explanation = heading_of(decided);
  explanation.savings = savings_of(decided.request, decided.plan);
  const std::vector<FoundAlternative> found =
      find_alternatives(decided.request, decided.planner.name, decided.plan, limits);
  const Comparison comparison(decided);
  for (const FoundAlternative& one : found) explanation.alternatives.push_back(comparison.against(one));
  std::stable_sort(explanation.alternatives.begin(), explanation.alternatives.end(), comes_before);
  explanation.flips =
      find_flips(decided.request, decided.plan, rivals_of(found, explanation.alternatives), decided.doubt);
  return explanation;
}

WhatIf plan_what_if(const Decided& decided, const Scenario& scenario, int* devices) {
  const PlanRequest& request = decided.request;
  const auto count = [&](const Plan& plan) {
    if (devices != nullptr) *devices = static_cast<int>(rented_by(plan, scenario.cluster).devices);
  };
  if (devices != nullptr) *devices = 0;
  WhatIf what_if;
  what_if.changes = scenario.changes;
  const std::optional<Pins> pins = moved(request.limits.pins, request.cluster, scenario.cluster);
  if (!pins) {
    what_if.message = "a task is pinned to a device that is not there";
    return what_if;
  }
  PlanResult result = plan_on(decided, scenario.cluster, *pins);
  what_if.outcome = result.outcome;
  what_if.message = result.message;
  if (result.plan) what_if.lower_bound_s = result.bound_of_all_s;
  std::optional<Plan> kept = moved(decided.plan, request.cluster, scenario.cluster);
  const Comparison comparison(decided);
  if (kept) {
    const Prediction prediction = predicted(request, scenario.cluster, *kept);
    const Judgement judged = judge(request, scenario.cluster, *kept, prediction);
    if (judged.is_allowed) what_if.kept_iteration_s = prediction.iteration_s;
    what_if.keeps_plan =
        judged.is_allowed &&
        (!result.plan ||
         !judge(request, scenario.cluster, *result.plan, *result.prediction).is_better_than(judged));
    if (what_if.keeps_plan) count(*kept);
    if (what_if.keeps_plan) comparison.fill_what_if(scenario.cluster, *kept, prediction, what_if);
  }
  if (!what_if.keeps_plan && result.plan) {
    count(*result.plan);
    comparison.fill_what_if(scenario.cluster, *result.plan, predicted(request, scenario.cluster, *result.plan),
                            what_if);
  }
  return what_if;
}

}  // namespace sextant::inline planner
