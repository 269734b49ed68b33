// The capacities of the links between hosts, from pairs that were measured at the same time.
//
// The rate of two hosts is the total for their devices: it becomes the capacity of links between nodes, if
// nodes have several devices. The capacity between hosts of two zones, or of two regions, is the highest total
// of the pairs between them in one round. A level gets the median of its zones or regions, over those that were
// measured with the most pairs at once; an exception gets its own measurement, and at least its own rate.
#pragma once

#include <span>

#include "probes/assembly/fleet_links.h"

namespace sextant::inline probes {

// devices_share: some host has several devices. Links of zones and regions without a known round keep no
// capacity.
void add_capacities(std::span<const HostPlace> places, std::span<const MeasuredPair> pairs, bool devices_share,
                    FleetLinks& links);

}  // namespace sextant::inline probes
