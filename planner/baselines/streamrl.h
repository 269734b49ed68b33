// StreamRL's disaggregation (Zhong et al. 2025, as HetRL, sections 2 and 5.1, describes it): generation on
// devices of its own, all other tasks together on the rest.
//
// Generation reads weights and caches and training multiplies, so generation gets the devices with the most
// memory bandwidth per FLOP/s; how many says a sweep over all sizes. StreamRL asks for equal devices in one
// data center within a group; here a group may be mixed, as no size would be left in many clusters otherwise:
// the planner is at least as good as StreamRL's own rule.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Its sizes end the search, or the budget. Infeasible where the workflow does not both generate and something
// else, or the cluster has one device.
[[nodiscard]] PlanResult plan_by_streamrl(const PlanRequest& request);

}  // namespace sextant
