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

namespace sextant::inline planner {
namespace {

// The solver adds times up and takes numbers for whole within tolerances of its own. Relative.
constexpr double kSolverTolerance = 1e-6, kSmallestCut = 1e-7;

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

// A plan of the space to begin with and a lower bound of all plans, both of the first nodes of branch and bound;
// the plan is the request's own if that is in the space.
struct Beginning {
  std::optional<Candidate> plan;
  double bound_s = 0;
};

Beginning beginning(UnitSpace& space, const SyncCost& sync) {
  constexpr std::uint64_t kNodes = 256;
  const PlanRequest& request = space.request();
  PlanRequest few = request;
  few.budget.evaluations = kNodes;
  few.on_improvement = {};
  ProofProgress progress(few, 0);
  GroupCosts costs(space, sync, progress);
  AssignmentSearch deals(space, sync, costs, progress);
  search_groupings(space, deals, progress);
  Beginning beginning{std::nullopt, progress.lower_bound()};
  if (progress.has_best()) beginning.plan = progress.best();
  if (request.start != nullptr && request.start->plan) {
    std::optional<Candidate> own = candidate_of(*request.start->plan, request, space.evaluator());
    if (own && space.choice_of(*own)) beginning.plan = std::move(own);
  }
  return beginning;
}

std::string size_of(const MilpProblem& problem) {
  return std::to_string(problem.variables().size()) + " variables, " + std::to_string(problem.rows().size()) +
         " rows";
}

Proof proof_at_limit(const Budget& budget) {
  return budget.evaluations > 0 && budget.seconds <= 0 ? Proof::gap : Proof::time_limit;
}

// Costs of devices that the program does not have as rows.
void add_cuts(UnitSpace& space, const UnitChoice& choice, IlpModel& model) {
  const double data_s = space.data_s(choice.grouping, choice.shares);
  if (data_s > 0) model.require_data(choice, data_s);
  if (model.is_apart(choice)) model.require_sync_between(choice);
}

}  // namespace

IlpAnswer solve_ilp(UnitSpace& space, const SyncCost& sync, IlpModel& model, const IlpQuestion& question,
                    const MilpSolver& solver) {
  const auto start = std::chrono::steady_clock::now();
  const std::atomic<bool>* is_cancelled = space.request().is_cancelled;
  const Budget& budget = question.budget;
  IlpAnswer answer;
  answer.found = question.start;
  answer.cuts = question.cuts;
  for (const UnitChoice& choice : answer.cuts) add_cuts(space, choice, model);
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
    solver_limits.cutoff = question.max_s - sync.overhead_s();
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
    answer.lower_bound = std::max(answer.lower_bound,
                                  std::min(std::max(0.0, solution.bound) + sync.overhead_s(), question.max_s));
    if (solution.values.empty()) break;
    const UnitChoice choice = model.choice(solution.values);
    const Candidate candidate = space.candidate(choice.grouping, choice.shares, choice.chosen);
    const double time_s = space.evaluator().evaluate(candidate).time_s;
    const std::vector<WeightTransfer<double>> transfers = space.evaluator().transfers();
    if (time_s < found_s) {
      answer.found = candidate;
      found_s = time_s;
    }
    const double missing_s = time_s - solution.objective - sync.overhead_s();
    if (solution.status == MilpStatus::limit) break;
    // The program gets the transfers that are too short for this choice as cuts.
    std::vector<std::size_t> longer;
    for (std::size_t k = 0; k < transfers.size(); ++k) {
      const double missing_of_transfer_s = transfers[k].time_s - model.transfer_s(solution.values, k);
      if (missing_of_transfer_s > kSmallestCut * time_s) longer.push_back(k);
    }
    const double data_s = space.data_s(choice.grouping, choice.shares);
    const bool is_missing = !longer.empty() || data_s > model.data_s(solution.values);
    answer.is_proved = missing_s <= kSolverTolerance * time_s ||
                       found_s <= answer.lower_bound * (1 + kSolverTolerance) || !is_missing;
    if (answer.is_proved) break;
    add_cuts(space, choice, model);
    answer.cuts.push_back(choice);
    for (const std::size_t k : longer) model.require_transfer(choice, k, transfers[k].time_s);
  }
  return answer;
}

namespace {

// Programs of all plans up to a time, which grows from the lower bound on until there is one: programs of much
// longer times have so many options that a solver does not end.
class GrowingPrograms {
 public:
  GrowingPrograms(UnitSpace& space, const SyncCost& sync, const MilpSolver& solver)
      : space_(space),
        sync_(sync),
        solver_(solver),
        progress_(space.request(), 0),
        costs_(space, sync, progress_) {}

  [[nodiscard]] IlpAnswer solve() {
    constexpr double kGrowth = 1.1;
    const Beginning begins = beginning(space_, sync_);
    all_.found = begins.plan;
    all_.lower_bound = begins.bound_s;
    do {
      solve_up_to(std::min(known_s(), all_.lower_bound * kGrowth));
    } while (!is_done_);
    return all_;
  }

 private:
  [[nodiscard]] double known_s() {
    return all_.found ? space_.evaluator().evaluate(*all_.found).time_s : kNever;
  }

  void solve_up_to(double max_s) {
    const IlpReduction reduction(space_, sync_, costs_, max_s);
    // A program with all options has every plan.
    if (reduction.keeps_all()) max_s = kMilpInfinity;
    IlpModel model(space_, sync_, &reduction);
    IlpQuestion question{std::nullopt, left(), max_s, std::move(all_.cuts)};
    if (known_s() <= max_s) question.start = all_.found;
    const IlpAnswer answer = solve_ilp(space_, sync_, model, question, solver_);
    all_.nodes += answer.nodes;
    all_.solved += answer.solved;
    all_.size = answer.size;
    all_.cuts = answer.cuts;
    if (answer.found && (!all_.found || space_.evaluator().evaluate(*answer.found).time_s < known_s()))
      all_.found = answer.found;
    all_.is_infeasible = answer.is_infeasible && max_s == kMilpInfinity && !all_.found;
    all_.is_proved = answer.is_proved && (all_.is_infeasible || known_s() <= max_s);
    all_.lower_bound =
        std::max(all_.lower_bound, answer.is_proved ? std::min(max_s, known_s()) : answer.lower_bound);
    is_done_ = all_.is_proved || !answer.is_proved;
  }

  // Seconds or nodes that are left of the request's.
  [[nodiscard]] Budget left() const {
    constexpr double kLeast_s = 1e-3;  // zero is no limit
    Budget budget = space_.request().budget;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (budget.seconds > 0) budget.seconds = std::max(kLeast_s, budget.seconds - passed.count());
    if (budget.evaluations > 0)
      budget.evaluations = budget.evaluations > all_.nodes ? budget.evaluations - all_.nodes : 1;
    return budget;
  }

  UnitSpace& space_;
  const SyncCost& sync_;
  const MilpSolver& solver_;
  ProofProgress progress_;
  GroupCosts costs_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  IlpAnswer all_;
  bool is_done_ = false;
};

}  // namespace

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
  const IlpAnswer answer = GrowingPrograms(space, sync, solver).solve();
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

}  // namespace sextant::inline planner
