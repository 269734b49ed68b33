// Chooses pairs of hosts in different groups (a region's zones, or the regions), which are far too many.
#pragma once

#include <random>
#include <vector>

#include "probes/schedule/tournament.h"

namespace sextant::inline probes {

struct CrossingLimits {
  int max_of_host = 0;   // mean over the hosts of a group
  int max_of_class = 0;  // between two groups
};

// Groups of hosts are not empty; no host is in two of them. Every group distributes its n * max_of_host ends
// evenly among the others, at most max_of_class each, and uses its hosts in turns; a group with fewer ends than
// there are other groups meets some of them once. At most max_of_host * hosts / 2 pairs, all distinct.
[[nodiscard]] std::vector<RankPair> class_crossings(std::vector<std::vector<int>> groups,
                                                    const CrossingLimits& limits, std::mt19937_64& random);

// Returns a pair for every host without is_met (by host), with a host of another group: with another such host
// while there are any, else with the other groups' hosts in turns. Marks both. All pairs are new, because the
// one host had none. No pairs for fewer than two groups.
[[nodiscard]] std::vector<RankPair> first_crossings(std::vector<std::vector<int>> groups,
                                                    std::vector<bool>& is_met, std::mt19937_64& random);

}  // namespace sextant::inline probes
