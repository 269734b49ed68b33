// A lower bound of the hourly cost of any placement of given jobs, by column generation.
//
// A placement chooses groups, each of which holds some jobs and costs what its nodes cost. In the linear relaxation
// groups may be chosen in parts; prices y_j of its dual, one for each job, bound the cost of any placement by
// sum_j y_j if no possible group is worth more than it costs. Prices that are too high by a factor rho are divided by
// it (Farley 1990). pricing.h finds rho; it leaves out what only the order of turns decides, so that the bound holds
// for more than round robin: for every schedule in which each member has one iteration in each period.
//
// Few jobs have a tighter bound, in which groups are chosen whole (min_usd_in_whole_groups).
//
// The first bound needs no search: a group with the period P has at most P of each node's time, and no member allows
// a longer one than its limit L_j, so that for rollout and training work w and v in node-seconds, and prices p and q
// of the nodes, y_j = (p w_j + q v_j) / L_j are such prices.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/exact/set_cover.h"
#include "planner/exact/work_budget.h"

namespace sextant::coschedule {

struct CostBound {
  double usd_per_hour = 0;
  int rounds = 0, groups = 0;  // of the column generation
  bool is_tight = false;       // the relaxation's optimum or that of whole groups, not an earlier round
  bool is_out_of_time =
      false;  // ended by the clock (work_budget.h), so that another run may prove more or less
};

// The bound, with the groups that were found on the way: sets of positions of jobs.
struct RelaxedPlacements {
  CostBound bound;
  SetCover groups;
};

// `start`: groups that are known to be possible, by which the relaxation begins; without a solver the bound is a
// looser one. budget: work after which the best bound so far is returned, the same one on every machine; the first is
// always worked out. training_may_grow: of placements whose groups may train on more nodes than their largest job needs. Needs at least
// one job.
[[nodiscard]] RelaxedPlacements relax_placements(const std::vector<Job>& jobs, const Pools& pools,
                                                 const std::vector<Group>& start, const BoundBudget& budget,
                                                 bool training_may_grow = false);

// The bound alone, of whole groups if there are few jobs and the budget is enough; zero without jobs.
[[nodiscard]] CostBound min_usd_per_hour(const std::vector<Job>& jobs, const Pools& pools,
                                         const std::vector<Group>& start, const BoundBudget& budget,
                                         bool training_may_grow = false);

// Few jobs: groups are chosen whole. Every set of jobs that can share a group is known, so that the cheapest choice of sets,
// each job in one of them, follows by dynamic programming over all sets of jobs. The relaxation may take parts of groups,
// which made the bound of balanced jobs 5.3 % lower than the optimum.
inline constexpr std::size_t kMaxWholeJobs = 16;

// Empty if there are more jobs than that, or if the budget is spent before the end. Needs at least one job.
[[nodiscard]] std::optional<double> min_usd_in_whole_groups(const std::vector<Job>& jobs, const Pools& pools,
                                                            bool training_may_grow, WorkBudget& budget);

}  // namespace sextant::coschedule
