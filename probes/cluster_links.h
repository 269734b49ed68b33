// From pairs of ranks to the links of a cluster: a rate for each level, exceptions, and what stands for pairs
// that were not measured. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "probes/collective/pair_turns.h"
#include "probes/link/link_probe.h"

namespace sextant {

struct PlacedRank {
  std::string node;
  std::string device;  // "node/3"
};

struct ClusterLinks {
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;
  std::vector<std::string> warnings;
};

// Levels have the median of their measured pairs. A measured pair far from it is an exception. A pair without a
// fit has what was measured of its like: within a node pairs of the same kind, between nodes other pairs of
// these two; where that is far from the level's median it is an exception too. Warnings name each exception
// that was measured, and say once a level how many pairs have no fit, which and why.
// Throws Error(machine) when a level has pairs and none of them has a fit.
[[nodiscard]] ClusterLinks assemble_links(const std::vector<PlacedRank>& ranks,
                                          const std::vector<LinkMeasurement>& measurements,
                                          const KindOfPair& kind_of_pair);

}  // namespace sextant
