// AReaL-Hex's scheduler (Yan et al. 2025, section 4): devices are split between training and rollout, and each
// side is planned separately.
//
//   Phase 1 (4.2, search_phase.h)  for given sides: a constrained search for tasks that run over all replicas
//                                  at once (training_search.h), and an integer program for the replicas of
//                                  rollout
//                                  (rollout_search.h, fill.h)
//   Phase 2 (4.3, repartition.h)   the devices that train: equation 3 for a share gamma of the arithmetic
//                                  (partition.h), and a binary search for gamma that balances C_T and C_I
//   Window (4.2.2, window.h)       response lengths sampled over delta steps
//   Dollars (3, 4.7, dollars.h)    the price of a plan
// The phases alternate until the plan is stable (Algorithm 1). Costs are those of the calibrated model, not of
// HexGen and Metis.
//
// The paper plans asynchronous workflows and minimises max(C_T, C_I). Here the workflow's mode decides:
// synchronous ones minimise the sum, with the same search. The balance at which the binary search ends means
// less for these, so the local search around it decides. The paper starts with gamma = 1, all devices training;
// we start with all tasks on all devices, which is a valid plan, and the best one for many synchronous
// workflows. The paper leaves out partitions in which training takes longer than rollout, because they stall
// rollout; here they are costed like all others.
//
// Beyond the paper: if a critic is trained, training's devices are split again between policy and value.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Ends if the plan is stable, or with the budget. If the workflow has one side only or the cluster one device,
// the plan has all tasks on all devices. Under a limit of dollars per hour it plans for each choice of whole
// machines within the limit (dollars.h), with the budget for each; other goals and limits are refused. Throws
// Error(bad_input) for a cluster that the evaluator cannot handle.
[[nodiscard]] PlanResult plan_by_two_phase(const PlanRequest& request);

// Phase 1 for every partition of units instead of the guided ones ("w/o Repartition" in Table 5), as a
// reference for tests of the guide. For clusters of a few dozen devices.
[[nodiscard]] PlanResult plan_by_all_partitions(const PlanRequest& request);

// The same with every layout of every task costed in phase 1 ("w/o Search" in Table 5).
[[nodiscard]] PlanResult plan_by_every_layout(const PlanRequest& request);

}  // namespace sextant::inline planner
