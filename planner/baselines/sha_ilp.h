// "SHA-ILP" of HetRL's section 6, to compare planners with: the nested halving of Algorithm 1, with the integer
// linear program of section 3.5 in each arm in place of the evolutionary algorithm. The paper rejects it
// because setting up the program of an arm takes longer than evolution needs to search it.
//
// An arm is a task grouping with the number of units of each group; its program has the space of exact
// (planner/exact/unit_space.h) cut down to these. An arm that is solved to the end is not solved again.
#pragma once

#include "planner/exact/milp.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// Evaluations of the request's budget are nodes of the solver's trees; an arm takes at least one. Seconds are
// divided among arms. Without a budget it searches for one second. Result as of other searches: nothing is
// proved of the whole space. Outcome too_large where the cluster has more shares of units than are held. Throws
// Error(bad_input) where the build has no MILP solver (SEXTANT_CBC), for objectives other than time, for pinned
// tasks and for ways to synchronize weights that are not sums (exact/ilp_model.h).
[[nodiscard]] PlanResult plan_by_sha_ilp(const PlanRequest& request);

}  // namespace sextant::inline planner
