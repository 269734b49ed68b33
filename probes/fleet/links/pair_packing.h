// Pairs of hosts in rounds of disjoint pairs.
#pragma once

#include <span>
#include <vector>

#include "probes/assembly/host_groups.h"

namespace sextant {

// Greedy edge colouring, the furthest pairs first, so that slow pairs share as few rounds as they can: each
// pair takes the first round in which neither host is busy. At most 2 d - 1 rounds, d being the most pairs of
// one host. With a limit > 0 of pairs of the same two regions in a round there may be more. `pairs` are
// distinct.
[[nodiscard]] std::vector<std::vector<RankPair>> pack_rounds(const HostGroups& groups,
                                                             std::vector<RankPair> pairs,
                                                             int max_at_once_between_regions);

}  // namespace sextant
