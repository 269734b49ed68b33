// Pairs of hosts of different groups (the zones of a region, or the regions), of which there are far too many.
#pragma once

#include <random>
#include <vector>

#include "probes/link/tournament.h"

namespace sextant {

struct CrossingLimits {
  int max_of_host = 0;   // on average over the hosts of a group
  int max_of_class = 0;  // between two groups
};

// Groups of hosts, each not empty; no host is in two of them. Every group shares its n * max_of_host ends
// evenly among the others, at most max_of_class each, taking its hosts in turns; one that has fewer ends than
// there are other groups meets some of them once. At most max_of_host * hosts / 2 pairs, all distinct.
[[nodiscard]] std::vector<RankPair> class_crossings(std::vector<std::vector<int>> groups,
                                                    const CrossingLimits& limits, std::mt19937_64& random);

// A pair for every host that is_met (by host) does not name, with a host of another group: with another such
// host while there are any, else with the other groups' hosts in turns. Marks both. All pairs are new, as the
// one host had none. No pairs for fewer than two groups.
[[nodiscard]] std::vector<RankPair> first_crossings(std::vector<std::vector<int>> groups,
                                                    std::vector<bool>& is_met, std::mt19937_64& random);

}  // namespace sextant
