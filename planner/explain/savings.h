// What faster hardware would buy for one plan.
#pragma once

#include <vector>

#include "documents/explanation.h"
#include "sextant/planner.h"

namespace sextant {

// For every rate of the cluster (costmodel/hardware_numbers.h), for links whole (latency and bandwidth at
// once), for each device type whole and for one rate of all types: the elasticity of the iteration, by a
// central difference, and what the plan saves where it is 10 % better. Predicted again, not extrapolated.
// Largest first, none that change nothing.
[[nodiscard]] std::vector<Saving> savings_of(const PlanRequest& request, const Plan& plan);

}  // namespace sextant
