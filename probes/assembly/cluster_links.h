// From pairs of ranks to the links of a cluster: a rate for each level, exceptions, and what stands for pairs
// that were not measured. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/assembly/pair_turns.h"
#include "probes/link/link_probe.h"
#include "sextant/cluster.h"

namespace sextant {

struct PlacedRank {
  std::string node;
  std::string device;  // "node/3"
  std::string zone = "local";
  std::string region = "local";
};

struct LinkRules {
  KindOfPair kind_of_pair = {};  // which links of a node are alike; may be empty
  // One pair of ranks was to be measured for each pair of nodes: of the others nothing is said.
  bool one_pair_for_nodes = false;
  // A level without any fit has the next outer one's links that were measured, else the next inner one's,
  // assumed, with a warning: for what an interrupted probe left.
  bool fills_levels = false;
};

struct ClusterLinks {
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;
  std::vector<std::string> warnings;
};

// Levels have the median of their measured pairs. A measured pair far from it is an exception. A pair without a
// fit has what was measured of its like: within a node pairs of the same kind, between nodes other pairs of
// these two; where that is far from the level's median it is an exception too. Warnings name each exception
// that was measured, and say once a level how many pairs have no fit, which and why. Between zones and between
// regions, two of them whose median is far from their level's are an exception of their own, from which their
// pairs are far or not. Throws Error(machine) when a level has pairs and none of them has a fit, or with
// fills_levels when no level has.
[[nodiscard]] ClusterLinks assemble_links(const std::vector<PlacedRank>& ranks,
                                          const std::vector<LinkMeasurement>& measurements,
                                          const LinkRules& rules);

}  // namespace sextant
