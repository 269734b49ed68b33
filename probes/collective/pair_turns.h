// All pairs of ranks in turns that do not disturb each other.
#pragma once

#include <string>
#include <vector>

#include "probes/link/tournament.h"

namespace sextant {

// Every pair once; pairs of one turn share no host, because those of one host share its bridges and adapters.
// On one host that is one pair after another; on h hosts up to h / 2 pairs between hosts, or h within them, at
// a time.
[[nodiscard]] std::vector<std::vector<RankPair>> pair_turns(const std::vector<std::string>& host_of_rank);

}  // namespace sextant
