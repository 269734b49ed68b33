// Mixed-integer linear programs and who solves them:
//   minimize c x  subject to  lower <= A x <= upper,  l <= x <= u,  some x whole.
// Solvers (CBC, HiGHS, ...) each have a file that implements MilpSolver; which are there is chosen by CMake.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

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

  // Its position.
  int add_variable(double lower, double upper, double cost = 0);
  int add_whole(double lower, double upper, double cost = 0);
  int add_binary(double cost = 0) { return add_whole(0, 1, cost); }

  // Terms of one variable are added up. A side that is infinite is none.
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
  double seconds = 0;       // none: no limit; of a wall clock
  int nodes = 0;            // likewise; of the solver's tree
  double gap_fraction = 0;  // good enough
  // Where it says so the solver ends with the best so far, after no longer than it has run already. Not asked
  // where nodes are limited: what they find must not depend on the clock.
  std::function<bool()> is_cancelled = {};
  // Of some variables, as they are in a solution to begin with, of which the solver finds the others.
  std::vector<MilpValue> start = {};
};

enum class MilpStatus {
  optimal,     // within the gap
  infeasible,  // proved
  limit,       // ended by a limit: the best so far, if there is one, and the bound
};

struct MilpSolution {
  MilpStatus status = MilpStatus::limit;
  std::vector<double> values;     // by variable; empty where none was found
  double objective = 0;           // of the values
  double bound = -kMilpInfinity;  // no solution costs less
  double nodes = 0;
};

class MilpSolver {
 public:
  virtual ~MilpSolver() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Prints nothing. Throws Error(machine) where the solver gives up.
  [[nodiscard]] virtual MilpSolution solve(const MilpProblem& problem, const MilpLimits& limits) const = 0;
};

// Null where this build has none.
[[nodiscard]] std::unique_ptr<MilpSolver> make_milp_solver();

}  // namespace sextant
