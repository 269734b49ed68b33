// Collectives over growing groups of ranks: each node, each zone, each region, all.
//
// A group with the same ranks as an inner one is measured once: one node in a zone is not a group of its own,
// and the outermost is always called "all". Groups of one level share no rank, and no link that is known from
// their places (a node's bus, a zone's network, the network between a region's zones), so they are measured at
// the same time. `send_receive` is a ring.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "probes/collective/collective_probe.h"
#include "probes/schedule/host_place.h"

namespace sextant {

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

// Collective over a group: returns a library for its ranks, or the reason for having none (equal on all).
using MakeGroupCollectives = std::function<CollectivesOrReason(Communicator& group)>;

// Collective over all ranks. Returns, at each group's lowest rank, which is the results' rank,
// "<library>/<level>/<collective>/<bytes>", for all ranks "<library>/<collective>/<bytes>", with their
// bandwidths; each has its group's name and ranks. total_budget_s is for each level. After each level
// `on_level` gets this rank's results; it may communicate with all ranks, and false ends it.
[[nodiscard]] std::vector<ProbeResult> measure_growing_groups(
    Communicator& world, const std::vector<GroupLevel>& levels, const MakeGroupCollectives& make,
    const CollectiveOptions& options, const Clock& clock = steady_clock(),
    const std::function<bool(const GroupLevel& level, const std::vector<ProbeResult>& mine)>& on_level = {});

}  // namespace sextant
