// HetRL's hybrid scheduling (section 3.4, Algorithm 1): nested successive halving over task groupings and the
// sizes of their GPU groups, evolution of which devices they get, and below it the best options of every task.
//
// What is ours: sizes are counted in units (space/units.h) and what is alike is merged, so that arms are
// thousands and not millions; a deal's levels 4 and 5 are solved at once (arrangement.h), with layers and
// sequences by the devices' speed from the start; the best deals climb (local_steps.h), what was seen of them is
// recombined (recombination.h), and the best are polished (polish.h); searches are repeated with larger
// budgets, so that seeds agree, by several islands side by side, on threads of this process and of other ranks
// (islands.h), to which the groupings are dealt (island.h). With evaluations alone nothing depends on threads,
// nor on ranks up to four.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Without a budget: one second. Throws Error(bad_input) for a cluster that the evaluator cannot hold.
[[nodiscard]] PlanResult plan_by_sha_ea(const PlanRequest& request);

}  // namespace sextant
