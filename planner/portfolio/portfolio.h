// Several planners share one budget, and the answer is the best of their plans: the default of `sextant
// plan`.
//
// The order: all tasks on all devices with the best degrees (verl-colocated), the most common placement; all
// tasks on a part of the cluster (subsets), one type, one zone, some of its nodes, where a part may be better
// than all; if generation may overlap the rest, splits into devices that generate and others, first between types
// of devices either way round (types), then of any size (streamrl); a proof over whole units of small clusters (exact); generation and training planned separately (two-phase);
// sha-ea with the remaining budget. A planner is left out if it does not apply to the request.
//
// If all devices are alike, a plan with uneven shares or stages is the answer only if it is faster than the
// best even plan by more than a fiftieth, because readers would ask for a reason.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

inline constexpr double kPortfolioBudget_s = 2;  // without a budget in the request

// Without a budget it runs for 2 s. The time does not end it before it has found a plan or looked at 1000 candidates,
// unless a minute has passed: whether a plan is found must not depend on the load of the machine. With ranks (PlanRequest::ranks) only the first rank runs the other
// planners, and sha-ea continues from their plans on all ranks. With an evaluation budget the answer is the
// same on any number of ranks.
[[nodiscard]] PlanResult plan_by_portfolio(const PlanRequest& request);

// True if replicas of each task have equal shares, to one sequence, and stages equal layers, to one layer.
[[nodiscard]] bool is_even(const Plan& plan, int sequences);

}  // namespace sextant::inline planner
