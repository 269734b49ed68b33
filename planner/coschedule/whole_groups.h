// The lower bound of cost_bound.h for few jobs, with groups that are chosen whole.
//
// Every set of jobs that can share a group is known then, so that the cheapest choice of sets, each job in one of them,
// follows by dynamic programming over all sets of jobs. Groups are those of pricing.h: possible in some schedule with one
// iteration of each member in each period, whatever the order of the turns. The linear relaxation may take parts of
// groups, which made the bound 5.3 % lower than the optimum for balanced jobs.
#pragma once

#include <optional>
#include <vector>

#include "planner/coschedule/job.h"
#include "planner/exact/work_budget.h"

namespace sextant::coschedule {

// Jobs whose sets are looked at one by one.
inline constexpr std::size_t kMaxWholeJobs = 16;

// Empty if there are more jobs than that, or if the budget is spent before the end. Needs at least one job.
[[nodiscard]] std::optional<double> min_usd_in_whole_groups(const std::vector<Job>& jobs, const Pools& pools,
                                                            bool training_may_grow, WorkBudget& budget);

}  // namespace sextant::coschedule
