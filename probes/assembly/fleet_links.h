// Assembles the links of a Cluster from the measured pairs of its hosts and the models' estimates for the rest.
//
// A level has the median of its pairs. Two regions, two zones or one zone (at least three pairs) more than
// kOddLinkFraction off their surroundings become an exception; zones with an uplink of their own become one
// with every zone that they were not measured with, marked assumed. A host slower than the others gets
// network_bytes_per_s, the rate of its adapters, instead of an exception for each pair: pairs that it limits
// count for no median. Measured pairs that are still off become exceptions of their nodes. There are at most
// max(hosts, 2,048) exceptions; the furthest off are kept and a warning says how many were dropped.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/estimates/pair_model.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

struct MeasuredPair {
  RankPair pair;
  LinkRate rate;
  int round = 0;  // as in PairMeasurement
};

struct FleetLinks {
  std::map<LinkLevel, LinkRate> levels;  // all at which two hosts meet, never within_node
  std::vector<LinkException> exceptions;
  std::vector<std::optional<double>> network_bytes_per_s;  // by host; few different values
  std::vector<std::string> warnings;
};

// The models must be fitted to the same pairs of the same hosts. At least one pair; a level at which hosts meet
// without a measured pair gets the rate of the next outer measured level, else of the next inner one, marked
// assumed, with a warning. The names of zones of different regions must differ, as a Cluster requires.
[[nodiscard]] FleetLinks assemble_fleet_links(std::span<const HostPlace> places,
                                              std::span<const MeasuredPair> pairs, const PairModel& latency,
                                              const PairModel& bandwidth);

}  // namespace sextant::inline probes
