// The table of fields of a simulation.
#pragma once

#include "documents/values/fields.h"
#include "planner/coschedule/simulation/simulate.h"

namespace sextant::coschedule {

[[nodiscard]] const Fields<Simulation>& simulation_fields();

}  // namespace sextant::coschedule
