// The standard evolutionary algorithm, as DEAP's eaSimple runs it (Fortin et al. 2012), which HetRL (section
// 5.4) compares its search with: 100 candidates, tournaments of three, pairs that exchange tasks, tasks that
// are drawn anew. No halving, no local search, nothing merged: what HetRL adds is missing on purpose.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Without a budget: one second.
[[nodiscard]] PlanResult plan_by_plain_ea(const PlanRequest& request);

}  // namespace sextant
