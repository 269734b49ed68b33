// OpenRLHF's placement, as ReaL (Mei et al., appendix D) describes it, and HybridFlow's own search for one.
// Degrees of every task are the best there; devices are taken in the order of the cluster, because both systems
// take all of them to be alike. Tasks cannot be pinned.
//
// DeepSpeed-Chat and NeMo-Aligner have the placements of verl-colocated and of verl-split; how they and
// OpenRLHF train (ZeRO-3, data parallelism alone) is a matter of the request's choices.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Three sets of devices: actor and reference train and infer on the first, critic and reward on the second,
// generation on the third. Every size of each set, in machines.
[[nodiscard]] PlanResult plan_by_openrlhf(const PlanRequest& request);

// HybridFlow's Algorithm 1 (auto-mapping): every partition of the models into sets that are colocated, every
// assignment of machines to these sets in the order of the cluster, and the best degrees of every task. Sets
// that lack memory are left out by the memory check. Ends by itself, or with the budget.
[[nodiscard]] PlanResult plan_by_verl_auto(const PlanRequest& request);

}  // namespace sextant
