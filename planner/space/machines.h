// Machines that nothing tells apart.
//
// Levels 2 and 3 of HetRL's search (section 3.2) deal GPUs to task groups. Taken literally, groups of 64 GPUs
// have 18.7 million sizes; groups that are cut at the borders of machines, and machines that may be exchanged
// for each other counted once, leave thousands.
#pragma once

#include <vector>

#include "sextant/cluster.h"
#include "sextant/ids.h"

namespace sextant {

// Exchanging two of them leaves the cluster as it is: the same devices, as many of them, link, network,
// host memory and zone.
struct MachineClass {
  std::vector<NodeId> machines;  // ascending
  int devices = 0;               // of each

  [[nodiscard]] int count() const { return static_cast<int>(machines.size()); }
  friend bool operator==(const MachineClass&, const MachineClass&) = default;
};

// In the order of their first machines. Where links of single
// machines or devices have exceptions each machine is a class of its own.
[[nodiscard]] std::vector<MachineClass> machine_classes(const Cluster& cluster);

// How many machines of each class a group takes.
using MachineShare = std::vector<int>;  // by class

// Deals of machines to groups that are told apart, none empty: inclusion and exclusion over the
// groups left empty, a class of m machines in C(m + g - 1, g - 1) ways to g groups.
[[nodiscard]] double machine_deal_count(const std::vector<MachineClass>& classes, int groups);

// All ways to deal all machines to `groups` >= 1 groups, none of them empty; groups are told apart. At most
// `most`: empty when there are more.
[[nodiscard]] std::vector<std::vector<MachineShare>> machine_deals(const std::vector<MachineClass>& classes,
                                                                   int groups, std::size_t maximum);

}  // namespace sextant
