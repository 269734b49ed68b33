// Placements of verl (HybridFlow: Sheng et al. 2025): where its users put the models, with the best degrees for
// every task. verl deals devices in the order of the cluster and takes all for equals.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// All tasks on all devices, one after the other; generation and training may cut the model differently
// (3D-HybridEngine). There is one placement; its options end the search, or the budget.
[[nodiscard]] PlanResult plan_by_verl_colocated(const PlanRequest& request);

// Split placement (Sheng et al. 2025): actor and reference on one set, critic
// and reward on the other, every size of both, each set once first. Where the workflow has no other models than
// actor and reference there is nothing to split: all on one set.
[[nodiscard]] PlanResult plan_by_verl_split(const PlanRequest& request);

}  // namespace sextant
