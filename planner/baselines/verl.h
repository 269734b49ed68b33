// Placements of verl (HybridFlow: Sheng et al. 2025): its users' placement of the models, with the best degrees
// for every task. verl assigns devices in the order of the cluster and treats all of them as equal.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// All tasks on all devices, one after the other; generation and training may partition the model differently
// (3D-HybridEngine). The search ends after the options of this single placement, or with the budget.
[[nodiscard]] PlanResult plan_by_verl_colocated(const PlanRequest& request);

// Split placement (Sheng et al. 2025): actor and reference on one set, critic and reward on the other, with
// every size of both and each set first once. A workflow without models other than actor and reference uses one
// set for all.
[[nodiscard]] PlanResult plan_by_verl_split(const PlanRequest& request);

}  // namespace sextant::inline planner
