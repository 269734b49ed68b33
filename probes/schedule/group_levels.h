// Groups of the ranks of a job that grow: each node, each zone, each region, all.
//
// A group with the same ranks as an inner one is left out: one node in a zone is not a group of its own, and the
// outermost is always called "all". Groups of one level share no rank, and no link that is known from their places
// (a node's bus, a zone's network, the network between a region's zones), so they can be measured at the same
// time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probes/schedule/host_place.h"

namespace sextant::inline probes {

inline constexpr const char* kAllRanks = "all";

struct RankGroup {
  std::string name;        // "node va-1", "zone use1a", "region us-east-1", "all"
  std::vector<int> ranks;  // at least two, ascending
};

struct GroupLevel {
  std::string name;  // "node", "zone", "region" or "all"
  std::vector<RankGroup> groups;
};

// Returns levels from the inside out; none for fewer than two ranks. `places`: the host of each rank.
[[nodiscard]] std::vector<GroupLevel> growing_groups(std::span<const HostPlace> places);

}  // namespace sextant::inline probes
