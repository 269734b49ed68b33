// The effect of faster hardware on one plan.
#pragma once

#include <vector>

#include "documents/explanation.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// For every rate of the cluster (costmodel/hardware_numbers.h), for whole links (latency and bandwidth
// together), for each whole device type and for one rate of all types: the elasticity of the iteration, by a
// central difference, and the time saved if it improves by 10 %. The values are predicted, not extrapolated.
// Largest first, without those that change nothing.
[[nodiscard]] std::vector<Saving> savings_of(const PlanRequest& request, const Plan& plan);

}  // namespace sextant::inline planner
