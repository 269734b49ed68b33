// A cluster without some of its devices, for every planner alike: it is planned as a cluster of its own, and
// the plan's devices are those of the whole again.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/search_space.h"

namespace sextant {

struct Subcluster {
  Cluster cluster;
  std::vector<DeviceId> original;  // by device

  // The same plan on the whole cluster.
  [[nodiscard]] Plan on_whole(Plan plan) const;

  // Pins of the whole cluster's devices as those of this one's. Throws Error(bad_input) for a device that is
  // left out.
  [[nodiscard]] Pins pins_within(const Pins& pins, const Cluster& whole) const;
};

// Nodes lose devices, or are left out with the last of them, and so are link exceptions that name what is gone.
// Throws Error(bad_input) where no device is left.
[[nodiscard]] Subcluster without(const Cluster& cluster, const std::set<DeviceId>& devices);

// Devices by name: a node, "node/3" for its fourth device, a zone or a region. Throws Error(bad_input) for a
// name that the cluster does not have.
[[nodiscard]] std::set<DeviceId> devices_named(const Cluster& cluster, const std::string& name);

}  // namespace sextant
