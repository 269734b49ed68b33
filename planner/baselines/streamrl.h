// StreamRL's disaggregation (Zhong et al. 2025, as HetRL, sections 2 and 5.1, describes it): generation on
// devices of its own, all other tasks together on the rest.
//
// Generation reads weights and caches, while training multiplies, so generation gets the devices with the most
// memory bandwidth per FLOP/s; a sweep over all sizes finds their number. StreamRL requires equal devices in
// one data center within a group. Here a group may be mixed, because many clusters would otherwise have no
// valid size; the planner is at least as good as StreamRL's own rule.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Ends after all sizes, or with the budget. Infeasible if the workflow does not have both generation and other
// tasks, or if the cluster has one device.
[[nodiscard]] PlanResult plan_by_streamrl(const PlanRequest& request);

// Generation on all devices of some types, all other tasks together on those of the others: every choice of types,
// of at most six. Infeasible with one type of devices or if a task is pinned.
[[nodiscard]] PlanResult plan_by_types(const PlanRequest& request);

}  // namespace sextant::inline planner
