#include "planner/exact/ilp.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <optional>

#include "planner/exact/deal_search.h"
#include "planner/exact/ilp_model.h"
#include "planner/search/search_run.h"
#include "sextant/error.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

// The solver adds times up and takes numbers for whole within tolerances of its own. Relative.
constexpr double kSolverTolerance = 1e-6;

// The solver's own times, within its tolerances; the plan is costed again.
void fill_plan(UnitSpace& space, const Candidate& candidate, PlanResult& result) {
  const Score score = space.evaluator().evaluate(candidate);
  constexpr double kTolerance_bytes = 1e5;  // of rows in gigabytes
  if (score.excess_bytes > kTolerance_bytes)
    throw_machine_failed("the MILP solver's plan does not fit: its rows of memory are violated");
  const PlanRequest& request = space.request();
  result.outcome = PlanOutcome::found;
  result.plan = space.evaluator().plan_of(candidate, request.workflow.name + "-ilp");
  result.prediction =
      predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
}

// The request's own, if it is of the space, or the best of the first few that branch and bound comes upon.
std::optional<Candidate> plan_to_begin_with(UnitSpace& space, const SyncCost& sync) {
  const PlanRequest& request = space.request();
  if (request.start != nullptr && request.start->plan) {
    std::optional<Candidate> own = candidate_of(*request.start->plan, request, space.evaluator());
    if (own && space.choice_of(*own)) return own;
  }
  constexpr std::uint64_t kNodes = 256;
  PlanRequest few = request;
  few.budget.evaluations = kNodes;
  few.on_improvement = {};
  ProofProgress progress(few, 0);
  GroupCosts costs(space, sync, progress);
  AssignmentSearch deals(space, sync, costs, progress);
  search_groupings(space, deals, progress);
  if (!progress.has_best()) return std::nullopt;
  return progress.best();
}

std::string size_of(const MilpProblem& problem) {
  return std::to_string(problem.variables().size()) + " variables, " + std::to_string(problem.rows().size()) +
         " rows";
}

Proof proof_at_limit(const Budget& budget) {
  return budget.evaluations > 0 && budget.seconds <= 0 ? Proof::gap : Proof::time_limit;
}

}  // namespace

IlpAnswer solve_ilp(UnitSpace& space, const SyncCost& sync, IlpModel& model, const IlpQuestion& question,
                    const MilpSolver& solver) {
  const auto start = std::chrono::steady_clock::now();
  const std::atomic<bool>* is_cancelled = space.request().is_cancelled;
  const Budget& budget = question.budget;
  IlpAnswer answer;
  answer.found = question.start;
  answer.size = size_of(model.problem());
  MilpLimits solver_limits;
  if (is_cancelled != nullptr)
    solver_limits.is_cancelled = [&] { return is_cancelled->load(std::memory_order_relaxed); };
  constexpr std::uint64_t kMaxNodes = 1'000'000'000;
  const auto passed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double found_s = answer.found ? space.evaluator().evaluate(*answer.found).time_s : kMilpInfinity;
  // Until the best plan found is no slower than the model says that any is.
  while (true) {
    solver_limits.start =
        answer.found ? model.values_of(*space.choice_of(*answer.found)) : std::vector<MilpValue>{};
    if (budget.seconds > 0) {
      solver_limits.seconds = budget.seconds - (answer.solved > 0 ? passed_s() : 0);
      if (solver_limits.seconds <= 0) break;
    }
    if (budget.evaluations > 0) {
      if (answer.nodes >= budget.evaluations) break;
      solver_limits.nodes = static_cast<int>(std::min(budget.evaluations - answer.nodes, kMaxNodes));
    }
    const MilpSolution solution = solver.solve(model.problem(), solver_limits);
    ++answer.solved;
    answer.nodes += static_cast<std::uint64_t>(solution.nodes);
    answer.is_infeasible = answer.is_proved = solution.status == MilpStatus::infeasible;
    if (answer.is_proved) break;
    answer.lower_bound = std::max(answer.lower_bound, std::max(0.0, solution.bound) + sync.fixed_s());
    if (solution.values.empty()) break;
    const UnitChoice choice = model.choice(solution.values);
    const Candidate candidate = space.candidate(choice.grouping, choice.shares, choice.chosen);
    const double time_s = space.evaluator().evaluate(candidate).time_s;
    if (time_s < found_s) {
      answer.found = candidate;
      found_s = time_s;
    }
    const double missing_s = time_s - solution.objective - sync.fixed_s();
    if (solution.status == MilpStatus::limit) break;
    const double data_s = space.data_s(choice.grouping, choice.shares);
    const double missing_data_s = data_s - model.data_s(solution.values);
    answer.is_proved = missing_s <= kSolverTolerance * time_s ||
                       found_s <= answer.lower_bound * (1 + kSolverTolerance) ||
                       (!model.has_sync() && missing_data_s <= 0);
    if (answer.is_proved) break;
    if (missing_data_s > 0) model.require_data(choice, data_s);
    const double missing_sync_s = missing_s - std::max(0.0, missing_data_s);
    if (model.has_sync() && missing_sync_s > kSolverTolerance * time_s)
      model.require_sync(choice, model.sync_s(solution.values) + missing_sync_s);
  }
  return answer;
}

PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits) {
  const std::unique_ptr<MilpSolver> solver = make_milp_solver();
  if (solver == nullptr) {
    throw_bad_input(
        "this build has no MILP solver: install coinor-libcbc-dev and configure with "
        "SEXTANT_CBC=ON, or plan by branch and bound");
  }
  return plan_by_ilp(request, limits, *solver);
}

PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits, const MilpSolver& solver) {
  require_time_alone(request.objective, "ilp");
  const auto start = std::chrono::steady_clock::now();
  PlanResult result;
  if (request.is_cancelled != nullptr && request.is_cancelled->load()) {
    result.proof = Proof::time_limit;
    result.message = "cancelled before the solver started";
    return result;
  }
  const std::string reason = size_limit_reason(request.cluster, limits.wanted_units, request.limits.pins);
  if (!reason.empty()) {
    result.outcome = PlanOutcome::too_large;
    result.message = reason;
    return result;
  }
  UnitSpace space(request, limits.wanted_units);
  if (!space.infeasible_pin_reason().empty()) {
    result.proof = Proof::optimal;
    result.message = space.infeasible_pin_reason();
    return result;
  }
  const SyncCost sync(space);
  IlpModel model(space, sync);  // first, so that its variables do not depend on what the start has looked up
  const IlpAnswer answer =
      solve_ilp(space, sync, model, {plan_to_begin_with(space, sync), request.budget}, solver);
  result.nodes = answer.nodes;
  result.lower_bound = answer.lower_bound;
  result.proof = answer.is_proved ? Proof::optimal : proof_at_limit(request.budget);
  result.message = std::string(solver.name()) + ", " + answer.size +
                   (answer.solved > 1 ? ", solved " + std::to_string(answer.solved) + " times: " : ": ");
  if (answer.is_infeasible) {
    result.message += "no plan of the space fits";
    return result;
  }
  if (!answer.found) {
    result.message += "the limit was reached before a plan was found";
    return result;
  }
  fill_plan(space, *answer.found, result);
  const bool has_start = request.start != nullptr && request.start->prediction.has_value();
  if (has_start && request.start->prediction->iteration_s < result.prediction->iteration_s) {
    result.plan = request.start->plan;
    result.prediction = request.start->prediction;
  }
  result.candidates = result.feasible = 1;
  const double time_s = result.prediction->iteration_s;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  result.improvements = {{1, passed.count(), time_s, time_s}};
  if (request.on_improvement) request.on_improvement(result.improvements.back());
  result.lower_bound = std::min(result.lower_bound, result.prediction->iteration_s);
  result.gap_fraction = result.prediction->iteration_s / result.lower_bound - 1;
  result.message += result.proof == Proof::optimal ? "the best plan of the space" : "the best until the limit";
  return result;
}

}  // namespace sextant
