// What the links between hosts carry together, from pairs that were measured at the same time.
//
// The rate of two hosts is all that their devices have: it becomes the capacity of links between nodes, where
// nodes have several devices. What hosts of two zones, or of two regions, share is the most that pairs between
// them reached together in one round. A level gets the median of its zones or regions, of those that were
// measured with the most pairs at once; an exception what was measured of it, and at least its own rate.
#pragma once

#include <span>

#include "probes/fleet/links/fleet_links.h"

namespace sextant {

// devices_share: some host has several devices. Links of zones and regions of which no round is known keep no
// capacity.
void add_capacities(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs, bool devices_share,
                    FleetLinks& links);

}  // namespace sextant
