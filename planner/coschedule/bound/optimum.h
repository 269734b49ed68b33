// The cheapest placement of given jobs if all may be regrouped: what no online scheduler can reach (section 6.5).
#pragma once

#include <vector>

#include "planner/coschedule/group.h"
#include "planner/exact/work_budget.h"

namespace sextant::coschedule {

struct Optimum {
  Placement placement;
  double lower_bound_usd_per_hour = 0;  // equal to the placement's cost if it is the optimum
  [[nodiscard]] double gap_fraction() const {
    const double usd = placement.usd_per_hour();
    return usd > 0 && lower_bound_usd_per_hour > 0 ? usd / lower_bound_usd_per_hour - 1 : 0;
  }
};

// Up to 16 jobs: by dynamic programming over all sets of jobs, exactly. More: the groups that the relaxation of
// cost_bound.h uses most, after the budget of it and a further tenth or so, or `start` if that is cheaper; with its
// lower bound. Limits of the pools' nodes are not taken into account, and for groups of jobs with several rollout
// nodes each not every pinning may be tried (kMaxPinningSteps). start: a placement of these jobs; may be empty.
[[nodiscard]] Optimum cheapest_placement(const std::vector<Job>& jobs, const Pools& pools,
                                         const Placement& start, const BoundBudget& budget,
                                         bool training_may_grow = false);

}  // namespace sextant::coschedule
