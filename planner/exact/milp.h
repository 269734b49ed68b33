// Mixed-integer linear programs and their solvers:
//   minimize c x  subject to  lower <= A x <= upper,  l <= x <= u,  some x whole.
// Each solver (CBC, HiGHS, ...) has a file that implements MilpSolver; CMake chooses the available ones.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline planner {

inline constexpr double kMilpInfinity = std::numeric_limits<double>::infinity();

struct MilpTerm {
  int variable = 0;
  double coefficient = 0;
};

// Columns and rows in the order in which they were added.
class MilpProblem {
 public:
  struct Variable {
    double lower = 0, upper = 0;
    double cost = 0;  // in the objective
    bool is_whole = false;
  };
  struct Row {
    double lower = 0, upper = 0;
    std::vector<MilpTerm> terms;  // by variable, each once
  };

  // Returns the position of the new variable.
  int add_variable(double lower, double upper, double cost = 0);
  int add_whole(double lower, double upper, double cost = 0);
  int add_binary(double cost = 0) { return add_whole(0, 1, cost); }

  // Terms of the same variable are added up. An infinite side is no constraint.
  void add_row(double lower, const std::vector<MilpTerm>& terms, double upper);

  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Variable> variables_;
  std::vector<Row> rows_;
};

struct MilpValue {
  int variable = 0;
  double value = 0;
};

struct MilpLimits {
  double seconds = 0;             // wall time; 0: no limit
  int nodes = 0;                  // of the solver's tree; 0: no limit
  double gap_fraction = 0;        // sufficient relative gap
  double cutoff = kMilpInfinity;  // solutions with larger objectives are not searched for
  // If it returns true the solver ends with the best solution so far, after at most its running time so far.
  // Not called if nodes are limited, because the result must not depend on the clock.
  std::function<bool()> is_cancelled = {};
  // Values of some variables in a start solution; the solver completes the others.
  std::vector<MilpValue> start = {};
};

enum class MilpStatus {
  optimal,     // within the gap
  infeasible,  // proved: there is no solution, or none below the cutoff
  limit,       // ended by a limit: the best solution so far, if any, and the bound
};

struct MilpSolution {
  MilpStatus status = MilpStatus::limit;
  std::vector<double> values;     // by variable; empty if no solution was found
  double objective = 0;           // of the values
  double bound = -kMilpInfinity;  // lower bound of any solution
  double nodes = 0;
  // Each variable's cost less the prices of its rows; only of solved problems without whole variables.
  std::vector<double> reduced_costs;
};

class MilpSolver {
 public:
  virtual ~MilpSolver() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Prints nothing. Throws Error(machine) if the solver fails.
  [[nodiscard]] virtual MilpSolution solve(const MilpProblem& problem, const MilpLimits& limits) const = 0;
};

// Null if this build has no solver.
[[nodiscard]] std::unique_ptr<MilpSolver> make_milp_solver();

}  // namespace sextant::inline planner
