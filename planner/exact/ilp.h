// HetRL's scheduling by an integer linear program (section 3.5), over the unit space of exact/unit_space.h. It
// finds the same answer as branch and bound in a different way, so that each checks the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/exact/ilp_model.h"
#include "planner/exact/milp.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

struct IlpLimits {
  int wanted_units = 8;  // as in ExactLimits
};

// For small clusters: the number of binary variables is tasks^2 / 2 times blocks of devices times options. So it
// solves programs of all plans up to a time (exact/ilp_reduction.h) that grows from a lower bound until one has a
// plan. The request's seconds limit the solver, its evaluations the nodes of the solver's tree. The solver starts with
// the request's start if that is in the space, otherwise with the first plan of branch and bound; a start
// outside the space is the answer if no plan is better. Cancellation is checked before the solver starts, and
// later with a delay of at most its running time so far (MilpLimits::is_cancelled), unless nodes are limited.
// The result is like that of plan_exactly.
//
// Throws Error(bad_input) if the build has no MILP solver (SEXTANT_CBC), for custom graphs, and for weight
// synchronization methods that are not sums (exact/ilp_model.h).
[[nodiscard]] PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits = {});
[[nodiscard]] PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits,
                                     const MilpSolver& solver);

struct IlpQuestion {
  std::optional<Candidate> start = {};  // a plan of the space to begin with
  Budget budget = {};                   // of the solver: seconds, nodes of its tree
  double max_s = kMilpInfinity;         // slower plans are not searched for
  std::vector<UnitChoice> cuts = {};    // choices whose devices were costed before: their cuts come first
};

struct IlpAnswer {
  std::optional<Candidate> found;  // the best plan, or the start where none is better
  double lower_bound = 0;          // of the iteration of any plan that was asked about, in seconds
  bool is_proved = false;          // the best of all, or that there is none within the question's time
  bool is_infeasible = false;      // proved: there is none within that time
  std::uint64_t nodes = 0;
  int solved = 0;                // programs, each with one more cut than the one before
  std::string size;              // of the program, in words
  std::vector<UnitChoice> cuts;  // the question's, and those that this solution needed
};

// Solves a program over a space that several may share, and adds cuts to it. model: of this space and sync.
[[nodiscard]] IlpAnswer solve_ilp(UnitSpace& space, const SyncCost& sync, IlpModel& model,
                                  const IlpQuestion& question, const MilpSolver& solver);

}  // namespace sextant::inline planner
