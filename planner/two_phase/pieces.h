// A set of devices by machines. Tensor parallelism stays inside a machine (AReaL-Hex, end of section 4.2.2), so
// the possible replicas of a side depend on its number of devices in each machine.
#pragma once

#include <vector>

#include "sextant/cluster.h"
#include "sextant/ids.h"

namespace sextant::inline planner {

// Machines of one class, each with the same number of devices in the set.
struct PieceClass {
  int machine_class = 0;  // replicas on machines with the same number cost the same; see machine_class_of
  NodeId machine;         // one of the class
  int devices = 0;        // number in each machine
  std::vector<std::vector<DeviceId>> pieces;  // devices by machine, ascending

  [[nodiscard]] int count() const { return static_cast<int>(pieces.size()); }
};

// Cluster::node_class, or the machine itself if links distinguish machines.
[[nodiscard]] int machine_class_of(const Cluster& cluster, NodeId machine);

// Classes in the order in which the first of their machines appears; devices: ascending.
[[nodiscard]] std::vector<PieceClass> pieces_of(const Cluster& cluster, const std::vector<DeviceId>& devices);

}  // namespace sextant::inline planner
