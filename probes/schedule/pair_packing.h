// Packs pairs of hosts into rounds of disjoint pairs.
#pragma once

#include <span>
#include <vector>

#include "probes/schedule/host_groups.h"

namespace sextant::inline probes {

// Greedy edge colouring, the furthest pairs first, so that slow pairs share as few rounds as possible: each
// pair takes the first round in which neither host is busy. At most 2 d - 1 rounds, d being the maximum number
// of pairs per host. With a limit > 0 of pairs of the same two regions per round there may be more. `pairs` are
// distinct.
[[nodiscard]] std::vector<std::vector<RankPair>> pack_rounds(const HostGroups& groups,
                                                             std::vector<RankPair> pairs,
                                                             int max_at_once_between_regions);

}  // namespace sextant::inline probes
