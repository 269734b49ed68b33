// HetRL's hybrid scheduling (section 3.4, Algorithm 1): nested successive halving over task groupings and the
// sizes of their GPU groups, evolution of their devices, and below it the best options of every task.
//
// Additions of Sextant: sizes are counted in units (space/units.h) and interchangeable machines are merged, so
// that there are thousands of arms instead of millions; levels 4 and 5 of an assignment are solved at once
// (arrangement.h), with layers and sequences split by the devices' speed from the start; the best assignments
// are improved by local search (local_steps.h), recombination (recombination.h) and polishing (polish.h);
// searches are repeated with larger budgets, so that seeds agree, by several islands in parallel, on threads
// and on other ranks (islands.h), among which the groupings are split (island.h). With an evaluation budget
// alone the result does not depend on threads, nor on ranks up to four.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Without a budget it runs for one second. Throws Error(bad_input) for a cluster the evaluator cannot handle.
[[nodiscard]] PlanResult plan_by_sha_ea(const PlanRequest& request);

}  // namespace sextant::inline planner
