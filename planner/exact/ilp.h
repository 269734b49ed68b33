// HetRL's scheduling by an integer linear program (section 3.5), over the unit space of exact/unit_space.h: the
// same answer as branch and bound by another way, so that each checks the other.
#pragma once

#include "planner/exact/milp.h"
#include "sextant/planner.h"

namespace sextant {

struct IlpLimits {
  int wanted_units = 8;  // as ExactLimits has it
};

// For small clusters: binary variables are tasks^2 / 2 times blocks of devices times options. The request's
// seconds limit the solver, its evaluations the nodes of the solver's tree. It begins with the request's start,
// where that is a plan of the space, or with the first that branch and bound comes upon; a start that is not of
// the space is the answer where nothing is better. Cancellation is looked
// at before the solver starts, and then after no longer than it has run already (MilpLimits::is_cancelled),
// unless nodes are limited. Result as of plan_exactly.
//
// Throws Error(bad_input) where the build has no MILP solver (SEXTANT_CBC), for custom graphs, and for ways to
// synchronize weights that are not sums (exact/ilp_model.h).
[[nodiscard]] PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits = {});
[[nodiscard]] PlanResult plan_by_ilp(const PlanRequest& request, const IlpLimits& limits,
                                     const MilpSolver& solver);

}  // namespace sextant
