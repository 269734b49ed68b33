// The best plan of the unit space (exact/unit_space.h) with a proof: branch and bound over task groupings,
// shares of units and options of tasks (levels 1 to 5 of HetRL's search, section 3.2, with blocks of devices in
// place of devices).
//
// Depth first, most promising first. A branch is pruned if its bound (exact/composition.h) is no better than
// the best plan so far: every task that is not placed yet counts with the minimum of all options on the devices
// that its group can still get, under joint memory. Interchangeable machines are merged, and groupings are
// sets, so that nothing is searched twice. If dollars or devices count, all this is done for every share of the
// units that plans can rent; its price turns a bound of time into one of dollars. Groups are disjoint and units
// may stay idle; sha-ea also overlaps groups, assigns single devices, and moves single layers and sequences.
// single layers and sequences.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

struct ExactLimits {
  int wanted_units = 8;  // minimum number of units of the cluster (planner/space/units.h)
  // A feasible plan of the same request with its prediction, such as sha-ea's, inside the space or not. The
  // search only looks for better plans and returns this one if there is none. Null: no start plan.
  const PlanResult* start = nullptr;
};

// Ends with its proof, or if the request's budget is spent (evaluations: nodes of the tree) or it is cancelled:
// then with the best plan so far, `lower_bound` of the space, and the gap between them. Seconds and
// cancellation also apply while options and bounds are computed; the bound is then at least that of any plan
// (exact/bound.h). Without a budget it runs until it is done. The same budget of nodes gives the same plan; one
// thread.
//
// outcome infeasible: with proof optimal, no plan of the space fits, or a task has no layout where it
// is pinned; with another proof, none was found. too_large: the cluster has more shares of units than
// kMaxShares, and there was no search. `candidates` and `feasible`: whole plans that were costed.
// Throws Error(bad_input) for custom graphs and for tasks that are pinned to overlapping but different
// sets.
[[nodiscard]] PlanResult plan_exactly(const PlanRequest& request, const ExactLimits& limits = {});

}  // namespace sextant::inline planner
