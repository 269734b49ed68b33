// Random search, the weakest baseline: the best of plans that are drawn independently.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Without a budget it runs for one second.
[[nodiscard]] PlanResult plan_by_random(const PlanRequest& request);

}  // namespace sextant::inline planner
