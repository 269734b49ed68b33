// Schedulers that know jobs and no phases (section 6.1): jobs that share nodes take them whole, one after the other.
//
// Colocated is verl on the training pool alone: a job generates on its training nodes, on as many as it needs to keep
// its promise. Gavel-like gives each job a share of the time of its nodes, 1 over its allowed slowdown, on nodes of
// both pools or of the training pool alone, whichever is cheaper; shares of one kind of nodes are packed first fit.
// Switching costs nothing there, which favours it.
#pragma once

#include "planner/coschedule/place.h"
#include "planner/coschedule/simulation/group_use.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

// The phase times are of the iterations that run.
[[nodiscard]] GroupUse colocated_use(const RunningGroup& running, const Pools& pools);
[[nodiscard]] GroupUse gavel_use(const RunningGroup& running, const Pools& pools);

[[nodiscard]] PlacementAnswer place_like_gavel(const Placement& placement, const Job& job);

// An iteration on the job's training nodes alone: generation takes colocated_rollout_s, and no weights are sent.
[[nodiscard]] double colocated_s(const Job& job, const PhaseTimes& times);
// The least number of training nodes on which an iteration at the bounds keeps the job's promise.
[[nodiscard]] int colocated_nodes(const Job& job);
// Whether a share of colocated nodes costs less than one of a node pair.
[[nodiscard]] bool is_cheaper_colocated(const Job& job, const Pools& pools);

}  // namespace sextant::coschedule
