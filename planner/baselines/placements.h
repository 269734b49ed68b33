// OpenRLHF's placement, as ReaL (Mei et al., appendix D) describes it, and HybridFlow's own placement search.
// Degrees of every task are the best for the placement; devices are used in the order of the cluster, because
// both systems treat all of them as alike. Tasks cannot be pinned.
//
// DeepSpeed-Chat and NeMo-Aligner have the placements of verl-colocated and of verl-split; the training method
// of these and of OpenRLHF (ZeRO-3, data parallelism alone) depends on the request's choices.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Three sets of devices: training and inference of actor and reference on the first, critic and reward on the
// second, generation on the third. Tries every size of each set, in machines.
[[nodiscard]] PlanResult plan_by_openrlhf(const PlanRequest& request);

// HybridFlow's Algorithm 1 (auto-mapping): every partition of the models into colocated sets, every assignment
// of machines to these sets in the order of the cluster, and the best degrees of every task. The memory check
// rejects sets that are too small. The search ends by itself, or with the budget.
[[nodiscard]] PlanResult plan_by_verl_auto(const PlanRequest& request);

}  // namespace sextant::inline planner
