// ReaL's search (Mei et al. 2024): a Markov chain over plans in which every task runs on a device
// mesh (meshes.h) with uniform degrees (chain.h).
//
// The first chain starts, like ReaL's, from the fastest option of every task. A chain cools down; then another
// one, twice as long, starts hot: with one temperature ReaL's chain may wander above the best plans or be stuck
// in the first local optimum, and the time to leave one is unknown. Later chains start alternately from the
// best plan so far and from a random plan, so that neither is a trap.
//
// Costs are the whole model's: every task once, communication and weight synchronization in the same seconds.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Uses one thread. Without a budget it runs for one second. Throws Error(bad_input) for a cluster that the
// evaluator cannot handle.
[[nodiscard]] PlanResult plan_by_mcmc(const PlanRequest& request);

}  // namespace sextant::inline planner
