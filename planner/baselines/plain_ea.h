// The standard evolutionary algorithm, as DEAP's eaSimple runs it (Fortin et al. 2012), which HetRL (section
// 5.4) compares its search with: 100 candidates, tournaments of three, pairs that exchange tasks, tasks that
// are redrawn. HetRL's additions (halving, local search, merged devices) are left out on purpose.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Without a budget it runs for one second.
[[nodiscard]] PlanResult plan_by_plain_ea(const PlanRequest& request);

}  // namespace sextant::inline planner
