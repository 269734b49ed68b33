// COIN-OR CBC 2.10 by its C interface.
#include <Cbc_C_Interface.h>

#include "core/error.h"
#include "planner/exact/milp.h"

namespace sextant {
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
  // It prints to stdout otherwise, and so does its LP solver.
  Cbc_setLogLevel(model, 0);
  Cbc_setParameter(model, "slog", "0");
  if (limits.seconds > 0) {
    Cbc_setParameter(model, "timeMode", "elapsed");
    Cbc_setMaximumSeconds(model, limits.seconds);
  }
  if (limits.nodes > 0) Cbc_setMaximumNodes(model, limits.nodes);
  Cbc_setAllowableFractionGap(model, limits.gap_fraction);
}

class CbcSolver : public MilpSolver {
 public:
  [[nodiscard]] std::string_view name() const override { return "CBC"; }

  [[nodiscard]] MilpSolution solve(const MilpProblem& problem, const MilpLimits& limits) const override {
    const Model model = loaded(problem);
    set_limits(model.get(), limits);
    Cbc_solve(model.get());
    MilpSolution solution;
    solution.nodes = Cbc_getNodeCount(model.get());
    if (Cbc_isProvenInfeasible(model.get()) != 0 ||
        Cbc_isInitialSolveProvenPrimalInfeasible(model.get()) != 0) {
      solution.status = MilpStatus::infeasible;
      return solution;
    }
    if (Cbc_isAbandoned(model.get()) != 0)
      throw_machine_failed("CBC gave a problem up: numbers got out of hand");
    if (Cbc_isProvenOptimal(model.get()) != 0) solution.status = MilpStatus::optimal;
    // Of problems without whole variables CBC keeps no best solution, and no objective.
    const double* values = Cbc_bestSolution(model.get());
    if (values == nullptr && solution.status == MilpStatus::optimal) values = Cbc_getColSolution(model.get());
    if (values != nullptr) solution.values.assign(values, values + problem.variables().size());
    for (std::size_t v = 0; v < solution.values.size(); ++v)
      solution.objective += problem.variables()[v].cost * solution.values[v];
    solution.bound =
        solution.status == MilpStatus::optimal ? solution.objective : Cbc_getBestPossibleObjValue(model.get());
    return solution;
  }
};

}  // namespace

std::unique_ptr<MilpSolver> make_milp_solver() { return std::make_unique<CbcSolver>(); }

}  // namespace sextant
