// The least a search must beat: the best of plans that are drawn one by one.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Without a budget: one second.
[[nodiscard]] PlanResult plan_by_random(const PlanRequest& request);

}  // namespace sextant
