// COIN-OR CBC 2.10 by its C interface.
#include <Cbc_C_Interface.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "planner/exact/milp.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

struct ModelDeleter {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, ModelDeleter>;

// CBC takes the matrix by columns.
struct Columns {
  std::vector<int> start, row;
  std::vector<double> value;
};

Columns columns_of(const MilpProblem& problem) {
  std::vector<std::vector<MilpTerm>> by_column(problem.variables().size());
  for (std::size_t r = 0; r < problem.rows().size(); ++r) {
    for (const MilpTerm& term : problem.rows()[r].terms)
      by_column[static_cast<std::size_t>(term.variable)].push_back({static_cast<int>(r), term.coefficient});
  }
  Columns columns;
  columns.start.push_back(0);
  for (const std::vector<MilpTerm>& column : by_column) {
    for (const MilpTerm& entry : column) {
      columns.row.push_back(entry.variable);
      columns.value.push_back(entry.coefficient);
    }
    columns.start.push_back(static_cast<int>(columns.row.size()));
  }
  return columns;
}

Model loaded(const MilpProblem& problem) {
  std::vector<double> lower, upper, cost, row_lower, row_upper;
  for (const MilpProblem::Variable& variable : problem.variables()) {
    lower.push_back(variable.lower);
    upper.push_back(variable.upper);
    cost.push_back(variable.cost);
  }
  for (const MilpProblem::Row& row : problem.rows()) {
    row_lower.push_back(row.lower);
    row_upper.push_back(row.upper);
  }
  const Columns columns = columns_of(problem);
  Model model(Cbc_newModel());
  Cbc_loadProblem(model.get(), static_cast<int>(lower.size()), static_cast<int>(row_lower.size()),
                  columns.start.data(), columns.row.data(), columns.value.data(), lower.data(), upper.data(),
                  cost.data(), row_lower.data(), row_upper.data());
  for (std::size_t v = 0; v < problem.variables().size(); ++v) {
    if (problem.variables()[v].is_whole) Cbc_setInteger(model.get(), static_cast<int>(v));
  }
  return model;
}

void set_limits(Cbc_Model* model, const MilpLimits& limits) {
  // Otherwise it prints to stdout, and so does its LP solver.
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "slog", "0");
  if (limits.seconds > 0) {
    Cbc_setParameter(model, "timeMode", "elapsed");
    Cbc_setMaximumSeconds(model, limits.seconds);
  }
  if (limits.nodes > 0) Cbc_setMaximumNodes(model, limits.nodes);
  Cbc_setAllowableFractionGap(model, limits.gap_fraction);
}

// Solves with the variables in `known` fixed, for solutions with costs below `cutoff`.
MilpSolution solved_with(const MilpProblem& problem, const MilpLimits& limits,
                         const std::vector<MilpValue>& known, double cutoff) {
  const Model model = loaded(problem);
  set_limits(model.get(), limits);
  for (const MilpValue& value : known) {
    // The solver's integers have a tolerance; unrounded bounds would exclude every integer.
    const bool is_whole = problem.variables()[static_cast<std::size_t>(value.variable)].is_whole;
    const double at = is_whole ? std::round(value.value) : value.value;
    Cbc_setColLower(model.get(), value.variable, at);
    Cbc_setColUpper(model.get(), value.variable, at);
  }
  if (cutoff < kMilpInfinity) Cbc_setCutoff(model.get(), cutoff);
  Cbc_solve(model.get());
  MilpSolution solution;
  solution.nodes = Cbc_getNodeCount(model.get());
  if (Cbc_isProvenInfeasible(model.get()) != 0 || Cbc_isInitialSolveProvenPrimalInfeasible(model.get()) != 0) {
    solution.status = MilpStatus::infeasible;
    return solution;
  }
  if (Cbc_isAbandoned(model.get()) != 0)
    throw_machine_failed("CBC abandoned a problem because of numerical difficulties");
  if (Cbc_isProvenOptimal(model.get()) != 0) solution.status = MilpStatus::optimal;
  // For problems without integer variables CBC keeps no best solution, and no objective.
  const double* values = Cbc_bestSolution(model.get());
  if (values == nullptr && solution.status == MilpStatus::optimal) values = Cbc_getColSolution(model.get());
  const bool is_linear = std::none_of(problem.variables().begin(), problem.variables().end(),
                                      [](const MilpProblem::Variable& variable) { return variable.is_whole; });
  if (is_linear && solution.status == MilpStatus::optimal) {
    const double* costs = Cbc_getReducedCost(model.get());
    if (costs != nullptr) solution.reduced_costs.assign(costs, costs + problem.variables().size());
  }
  if (values != nullptr) solution.values.assign(values, values + problem.variables().size());
  for (std::size_t v = 0; v < solution.values.size(); ++v)
    solution.objective += problem.variables()[v].cost * solution.values[v];
  solution.bound =
      solution.status == MilpStatus::optimal ? solution.objective : Cbc_getBestPossibleObjValue(model.get());
  return solution;
}

// Solves from a start solution. CBC's own function for that (Cbc_setMIPStartI of 2.10.8) crashes, or reports a
// problem as infeasible if the start is already optimal. So the other variables of the start are solved first,
// then solutions with lower costs are searched.
MilpSolution solved_once(const MilpProblem& problem, const MilpLimits& limits) {
  MilpSolution start;
  if (!limits.start.empty()) start = solved_with(problem, limits, limits.start, kMilpInfinity);
  if (start.values.empty()) return solved_with(problem, limits, {}, limits.cutoff);
  MilpSolution better = solved_with(problem, limits, {}, std::min(start.objective, limits.cutoff));
  better.nodes += start.nodes;
  if (better.status == MilpStatus::infeasible) {  // except for the start itself
    better.status = MilpStatus::optimal;
    better.bound = start.objective;
  }
  if (better.values.empty() || better.objective > start.objective) {
    better.values = std::move(start.values);
    better.objective = start.objective;
  }
  better.bound = std::min(better.bound, better.objective);
  return better;
}

std::vector<MilpValue> start_from(const MilpProblem& problem, const std::vector<double>& values) {
  std::vector<MilpValue> start;
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (problem.variables()[v].is_whole) start.push_back({static_cast<int>(v), values[v]});
  }
  return start;
}

// Callbacks cannot stop CBC, so it runs in slices of time, each as long as all before and starting from their
// best solution: at most twice the work.
MilpSolution solved_in_slices(const MilpProblem& problem, const MilpLimits& limits) {
  constexpr double kFirst_s = 1;
  const auto start = std::chrono::steady_clock::now();
  const auto passed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  MilpLimits slice = limits;
  MilpSolution best;
  for (;;) {
    slice.seconds = std::max(kFirst_s, passed_s());
    if (limits.seconds > 0) slice.seconds = std::min(slice.seconds, limits.seconds - passed_s());
    MilpSolution next = solved_once(problem, slice);
    next.nodes += best.nodes;
    if (next.status != MilpStatus::limit) return next;
    next.bound = std::max(next.bound, best.bound);
    const bool is_better = !next.values.empty() && (best.values.empty() || next.objective < best.objective);
    if (!is_better) {
      next.values = std::move(best.values);
      next.objective = best.objective;
    }
    best = std::move(next);
    if (limits.is_cancelled() || (limits.seconds > 0 && passed_s() >= limits.seconds)) return best;
    if (!best.values.empty()) slice.start = start_from(problem, best.values);
  }
}

class CbcSolver : public MilpSolver {
 public:
  [[nodiscard]] std::string_view name() const override { return "CBC"; }

  [[nodiscard]] MilpSolution solve(const MilpProblem& problem, const MilpLimits& limits) const override {
    return limits.is_cancelled && limits.nodes == 0 ? solved_in_slices(problem, limits)
                                                    : solved_once(problem, limits);
  }
};

}  // namespace

std::unique_ptr<MilpSolver> make_milp_solver() { return std::make_unique<CbcSolver>(); }

}  // namespace sextant::inline planner
