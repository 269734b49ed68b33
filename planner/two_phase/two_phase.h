// AReaL-Hex's scheduler (Yan et al. 2025, section 4): devices are dealt to training and rollout, and each side
// is planned for itself.
//
//   Phase 1 (4.2, search_phase.h)  for given sides: a constrained search for what runs over all replicas at
//   once
//                                  (training_search.h), an integer program for replicas of rollout
//                                  (rollout_search.h, fill.h)
//   Phase 2 (4.3, repartition.h)   which devices train: equation 3 for a share gamma of the arithmetic
//                                  (partition.h), and a binary search for gamma that balances C_T and C_I
//   Window (4.2.2, window.h)       response lengths sampled over delta steps
//   Dollars (3, 4.7, dollars.h)    what a plan costs
// They alternate until the plan is stable (Algorithm 1). Costs are those of the calibrated model, not of HexGen
// and Metis.
//
// The paper plans asynchronous workflows and minimises max(C_T, C_I). Ours are costed as their mode says:
// synchronous ones by the sum, with the same search; the balance that the binary search ends at means less
// there, so that its neighbours decide. The paper's starting point, gamma = 1, is all devices training; ours is
// all tasks on all devices, which is a plan, and the best one of many synchronous workflows. Partitions in
// which training takes longer than rollout, which the paper leaves out for they stall rollout, are costed as
// what they are.
//
// Beyond the paper: where a critic is trained, training's devices are dealt once more, to policy and value.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Ends when it is stable, or when the budget is spent. Where the workflow has one side only or the cluster one
// device: all tasks on all devices. Under a limit of dollars an hour: on the whole machines that it pays for
// (dollars.h), with the budget for each choice of them; other goals and limits are refused. Throws
// Error(bad_input) for a cluster that the evaluator cannot hold.
[[nodiscard]] PlanResult plan_by_two_phase(const PlanRequest& request);

// Every partition of units in place of the guided ones, with the same phase 1 ("w/o Repartition" in Table 5):
// what the guide is tested against. For clusters of some dozens of devices.
[[nodiscard]] PlanResult plan_by_all_partitions(const PlanRequest& request);

}  // namespace sextant
