// Charts of many jobs on shared pools: turns of a group, and a simulated trace.
#pragma once

#include <string>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/simulation/simulate.h"
#include "sextant/json.h"

namespace sextant::charts {

// Two meta-iterations of the group by node, typical ones with lengths of responses, else at the bounds. The long tails of
// rollouts move where the period is shortest.
[[nodiscard]] Json group_gantt(const coschedule::Group& group);

// Whether the lower bound of the cost was worked out for any state.
[[nodiscard]] bool has_cost_bound(const coschedule::Simulation& simulation);

// Dollars an hour, with the lower bound where it was worked out.
[[nodiscard]] Json cost_over_time(const coschedule::Simulation& simulation);
[[nodiscard]] Json nodes_over_time(const coschedule::Simulation& simulation);
[[nodiscard]] Json busy_over_time(const coschedule::Simulation& simulation);
// Placements by their cost over its lower bound, where that was worked out; null if it never was.
[[nodiscard]] Json cost_over_bound_histogram(const coschedule::Simulation& simulation);
// Jobs by slowdown over what they allow; beyond 1 a promise is broken.
[[nodiscard]] Json slo_histogram(const coschedule::Simulation& simulation);

}  // namespace sextant::charts
