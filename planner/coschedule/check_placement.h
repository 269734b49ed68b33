// A check of placements by separate code: the members take their turns event by event, and nothing of
// round_robin.h or place.h is used. Placements with a probability are checked with other draws (chance.h).
#pragma once

#include <string>
#include <vector>

#include "planner/coschedule/group.h"

namespace sextant::coschedule {

// One sentence for every promise or limit that a placement breaks; empty if it keeps all: the memory of hosts, the
// size of pools and groups, and the iteration time of every member, which is simulated.
[[nodiscard]] std::vector<std::string> broken_promises(const Placement& placement);

// The mean time of a meta-iteration over many of them.
[[nodiscard]] double simulated_period_s(const Group& group);
// The iteration time of each member: the longest of many if some member has several turns, else the mean.
[[nodiscard]] std::vector<double> simulated_iterations_s(const Group& group);

}  // namespace sextant::coschedule
