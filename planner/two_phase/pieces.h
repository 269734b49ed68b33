// A set of devices by machines: tensor parallelism stays inside one (AReaL-Hex, end of section 4.2.2), so what
// a side can hold depends on how many of its devices lie in which machines.
#pragma once

#include <vector>

#include "sextant/cluster.h"
#include "sextant/ids.h"

namespace sextant {

// Machines of one class, each with the same number of devices in the set.
struct PieceClass {
  int machine_class = 0;  // number that replicas of a machine cost the same under; see machine_class_of
  NodeId machine;         // one of the class
  int devices = 0;        // of each
  std::vector<std::vector<DeviceId>> pieces;  // devices of each, ascending

  [[nodiscard]] int count() const { return static_cast<int>(pieces.size()); }
};

// Cluster::node_class, or the machine itself where links tell machines apart.
[[nodiscard]] int machine_class_of(const Cluster& cluster, NodeId machine);

// Classes in the order in which the first of their machines appears; devices: ascending.
[[nodiscard]] std::vector<PieceClass> pieces_of(const Cluster& cluster, const std::vector<DeviceId>& devices);

}  // namespace sextant
