// Collectives over growing groups of ranks (schedule/group_levels.h); groups of one level are measured at the same
// time. `send_receive` is a ring.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/collective/collective_probe.h"
#include "probes/schedule/group_levels.h"

namespace sextant::inline probes {

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

}  // namespace sextant::inline probes
