// ReaL's search (Mei et al. 2024): a Markov chain over plans in which every task runs on a device
// mesh (meshes.h) with uniform degrees (chain.h).
//
// The first chain starts, as ReaL's, where every task has its fastest option. A chain cools down; then another
// one, twice as long, starts hot: with one temperature ReaL's chain may wander above the best plans or be stuck
// in the first valley, and how long it takes to leave one nobody knows beforehand. Chains start in turn from
// the best plan so far, and from a plan drawn evenly, so that neither is a trap.
//
// Costs are the whole model's: every task once, communication and weight synchronization in the same seconds.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// One thread. Without a budget: one second. Throws Error(bad_input) for a cluster that the evaluator cannot
// hold.
[[nodiscard]] PlanResult plan_by_mcmc(const PlanRequest& request);

}  // namespace sextant
