#include "ask/plan/search_record.h"

#include <algorithm>
#include <cmath>

namespace sextant::inline ask {
namespace {

void fill_objective(const Objective& objective, SearchRecord& record) {
  const auto limit = [](double maximum) { return maximum > 0 ? std::optional<double>(maximum) : std::nullopt; };
  if (objective.goal == Goal::cost) record.goal = "cost";
  if (objective.goal == Goal::devices) record.goal = "devices";
  record.max_iteration_s = limit(objective.max_iteration_s);
  record.max_usd_per_hour = limit(objective.max_usd_per_hour);
  record.max_usd_per_iteration = limit(objective.max_usd_per_iteration);
}

void fill_request(const FinishedSearch& searched, SearchRecord& record) {
  const PlanRequest& request = searched.request;
  record.workflow = request.workflow.name;
  record.cluster = request.cluster.name();
  record.planner = searched.planner.name;
  record.seed = request.seed;
  record.threads = searched.result.threads;
  if (request.budget.seconds > 0) record.budget_s = request.budget.seconds;
  if (request.budget.evaluations > 0) record.budget_evaluations = request.budget.evaluations;
  fill_objective(request.objective, record);
}

// The goal decides which quantity the bound limits (sextant/objective.h); an infinite one is not known. Dollars
// are without what planners add for the time.
void fill_space_bound(const Objective& objective, double bound, double iteration_s, SearchRecord& record) {
  if (!(bound > 0) || !std::isfinite(bound)) return;
  if (objective.goal == Goal::time) record.space_lower_bound_s = bound;
  if (objective.goal == Goal::cost)
    record.space_lower_bound_usd = std::max(0.0, bound - usd_per_iteration({0, kTieUsdPerHour}, iteration_s));
  if (objective.goal == Goal::devices) record.space_lower_bound_devices = static_cast<int>(bound);
}

// An infinite gap is one that is not known.
void fill_bounds(const FinishedSearch& searched, SearchRecord& record) {
  const PlanResult& result = searched.result;
  record.lower_bound_s = result.bound_of_all_s;
  record.lower_bound_usd = result.bound_of_all_usd;
  record.proof = result.proof;
  if (result.proof == Proof::none) return;
  const double iteration_s = result.prediction ? result.prediction->iteration_s : 0;
  fill_space_bound(searched.request.objective, result.lower_bound, iteration_s, record);
  if (result.plan && std::isfinite(result.gap_fraction))
    record.space_gap_fraction = std::max(0.0, result.gap_fraction);
}

void fill_price(const PlanRequest& request, const Plan& plan, SearchRecord& record) {
  const Rented rented = rented_by(plan, request.cluster);
  record.devices = static_cast<int>(rented.devices);
  if (!has_prices(request.cluster)) return;
  record.usd_per_hour = rented.usd_per_hour;
  record.usd_per_iteration = usd_per_iteration(rented, record.iteration_s);
  record.usd_per_token = *record.usd_per_iteration / tokens_per_iteration(request.workflow);
}

void fill_plan(const PlanRequest& request, const PlanResult& result, SearchRecord& record) {
  record.plan = result.plan->name;
  record.iteration_s = result.prediction->iteration_s;
  fill_price(request, *result.plan, record);
}

}  // namespace

SearchRecord record_of(const FinishedSearch& searched) {
  const PlanResult& result = searched.result;
  SearchRecord record;
  fill_request(searched, record);
  record.outcome = result.outcome;
  record.was_interrupted = searched.was_interrupted;
  record.message = result.message;
  record.wall_s = searched.wall_s;
  record.candidates = result.candidates;
  record.feasible = result.feasible;
  record.nodes = result.nodes;
  record.curve = result.improvements;
  fill_bounds(searched, record);
  if (result.outcome == PlanOutcome::found) fill_plan(searched.request, result, record);
  return record;
}

}  // namespace sextant::inline ask
