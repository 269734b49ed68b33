// A cluster without some of its devices, for every planner: it is planned as a separate cluster, and the plan's
// devices are then mapped back to the whole cluster.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/search_space.h"

namespace sextant::inline planner {

struct Subcluster {
  Cluster cluster;
  std::vector<DeviceId> original;  // number in the whole cluster, by device

  // The same plan with the device numbers of the whole cluster.
  [[nodiscard]] Plan on_whole(Plan plan) const;

  // The pins with this cluster's device numbers. Throws Error(bad_input) for a device that is left
  // out.
  [[nodiscard]] Pins pins_within(const Pins& pins, const Cluster& whole) const;
};

// Removes devices. Nodes without devices are removed too, and so are link exceptions that refer to removed
// objects. Throws Error(bad_input) if no device is left.
[[nodiscard]] Subcluster without(const Cluster& cluster, const std::set<DeviceId>& devices);

// Devices by name: a node, "node/3" for its fourth device, a zone or a region. Throws Error(bad_input) for a
// name that is not in the cluster.
[[nodiscard]] std::set<DeviceId> devices_named(const Cluster& cluster, const std::string& name);

}  // namespace sextant::inline planner
