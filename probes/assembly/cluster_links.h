// Assembles the links of a cluster from pairs of ranks: a rate for each level, exceptions, and assumed values
// for pairs that were not measured. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/link/link_probe.h"
#include "probes/schedule/rank_pairs.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

struct PlacedRank {
  std::string node;
  std::string device;  // "node/3"
  std::string zone = "local";
  std::string region = "local";
};

struct LinkRules {
  KindOfPair kind_of_pair = {};  // classifies the links of a node; may be empty
  // Only one pair of ranks per pair of nodes was scheduled: warnings ignore the other pairs.
  bool one_pair_for_nodes = false;
  // Set for interrupted probes: a level without any fit gets the measured links of the next outer level, else
  // of the next inner one, marked assumed, with a warning.
  bool fills_levels = false;
};

struct ClusterLinks {
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;
  std::vector<std::string> warnings;
};

// A level has the median of its measured pairs. A measured pair far from it is an exception. A pair without
// a fit gets the values of similar pairs: within a node pairs of the same kind, between nodes other pairs
// of the same two; if that is far from the level's median it is an exception too. Warnings report each
// measured exception, and once per level how many pairs have no fit, which and why. Two zones or two
// regions whose median is far from their level's are an exception of their own, to which their pairs are
// compared. Throws Error(machine) if a level has pairs and none of them has a fit, or with fills_levels if
// no level has one.
[[nodiscard]] ClusterLinks assemble_links(const std::vector<PlacedRank>& ranks,
                                          const std::vector<LinkMeasurement>& measurements,
                                          const LinkRules& rules);

}  // namespace sextant::inline probes
