// Classes of interchangeable machines.
//
// Levels 2 and 3 of HetRL's search (section 3.2) assign GPUs to task groups. Taken literally, groups of 64 GPUs
// have 18.7 million sizes. Groups of whole machines, with interchangeable machines counted once, leave
// thousands.
#pragma once

#include <vector>

#include "sextant/cluster.h"
#include "sextant/ids.h"

namespace sextant::inline planner {

// Machines of a class are interchangeable: they have the same device type, number of devices, link, network,
// host memory and zone.
struct MachineClass {
  std::vector<NodeId> machines;  // ascending
  int devices = 0;               // of each machine

  [[nodiscard]] int count() const { return static_cast<int>(machines.size()); }
  friend bool operator==(const MachineClass&, const MachineClass&) = default;
};

// Classes in the order of their first machines. If exceptions apply to links of single machines or devices,
// each machine is a class of its own.
[[nodiscard]] std::vector<MachineClass> machine_classes(const Cluster& cluster);

// The number of machines of each class in a group.
using MachineShare = std::vector<int>;  // by class

// Number of assignments of machines to distinguishable groups, none empty: inclusion and exclusion over the
// groups left empty, with C(m + g - 1, g - 1) ways to assign a class of m machines to g groups.
[[nodiscard]] double machine_deal_count(const std::vector<MachineClass>& classes, int groups);

// All ways to assign all machines to `groups` >= 1 distinguishable groups, none empty. Returns an empty list if
// there are more than `maximum`.
[[nodiscard]] std::vector<std::vector<MachineShare>> machine_deals(const std::vector<MachineClass>& classes,
                                                                   int groups, std::size_t maximum);

}  // namespace sextant::inline planner
