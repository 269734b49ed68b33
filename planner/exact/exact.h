// The best plan of the unit space (exact/unit_space.h) with a proof: branch and bound over task groupings,
// shares of units and options of tasks (levels 1 to 5 of HetRL's search, section 3.2, with blocks of devices in
// place of devices).
//
// Depth first, the most promising first. A branch is cut off where its bound (exact/composition.h) is no better
// than the best plan so far: every task that is not placed yet takes the least of all options on the devices
// that its group can still get, with what fits into memory together. Machines that are alike are merged, and
// groupings are sets, so that nothing is looked at under two names. Where dollars or devices count, all this is
// done for every share of the units that plans can rent, whose price makes a bound of dollars of one of time.
// Groups are disjoint and units may stay idle; sha-ea also overlaps groups, deals single devices, and moves
// single layers and sequences.
#pragma once

#include "sextant/planner.h"

namespace sextant {

struct ExactLimits {
  int wanted_units = 8;  // the cluster is cut into at least so many (planner/space/units.h)
  // A feasible plan of the same request with its prediction, such as sha-ea's, inside the space or not: plans
  // that are no better are not looked for, and it is the answer where there is none. Null: none.
  const PlanResult* start = nullptr;
};

// Ends with its proof, or when the request's budget is spent (evaluations: nodes of the tree) or it is
// cancelled: then with the best plan so far, `lower_bound` of the space, and the gap between them. Seconds
// and cancellation hold from the start, while options and bounds are worked out too; the bound is then no less
// than that of any plan (exact/bound.h). Without a budget it goes on until it is done. The same budget of nodes
// gives the same plan; one thread.
//
// outcome infeasible: with proof optimal, nothing in the space fits, or a task has no layout where it is
// pinned; with another, nothing was found. too_large: the cluster has more shares of units than are held
// (kMaxShares), and nothing was looked at. `candidates` and `feasible`: whole plans that were costed. Throws
// Error(bad_input) for custom graphs and for tasks that are pinned to sets that
// overlap without being the same.
[[nodiscard]] PlanResult plan_exactly(const PlanRequest& request, const ExactLimits& limits = {});

}  // namespace sextant
