// Hypothetical changes of a cluster: machines added or removed, links or devices of another speed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"

namespace sextant::inline planner {

// Adds `count` machines like the first of the type, at the end of the cluster; in the zone of that one, or in
// another zone of the cluster.
struct AddMachines {
  std::string device_type;
  int count = 1;
  std::string zone;  // empty: that of the copied machine
};

// Removes a machine, and link exceptions that refer to it or to a zone or region that disappears with it.
struct RemoveMachine {
  std::string node;
};

// Removes the last `count` machines of the type.
struct RemoveMachines {
  std::string device_type;
  int count = 1;
};

// Changes all links at a level: its rate, machines' own links (within_node), exceptions that meet there. Machines whose
// adapters lead to this level (within_zone, or within_region if their zone is one island) have them as much faster.
struct ChangeLinks {
  enum class What { bytes_per_s, latency_s };
  LinkLevel level = LinkLevel::within_zone;
  What what = What::bytes_per_s;
  bool is_factor = true;  // false: `value` is the new value
  double value = 1;
};

// Changes the link between two machines, zones or regions, in both directions: its exception, and those between
// machines on either side.
struct ChangeLinkBetween {
  std::string from, to;  // names of one scope
  ChangeLinks::What what = ChangeLinks::What::bytes_per_s;
  bool is_factor = true;  // false: `value` is the new value
  double value = 1;
};

struct ScaleDevices {
  std::string device_type;
  std::string name =
      "flop_per_s";  // for all precisions; or "memory_bytes_per_s", "memory_bytes", "host_bytes_per_s"
  double factor = 1;
};

using ClusterChange =
    std::variant<AddMachines, RemoveMachine, RemoveMachines, ChangeLinks, ChangeLinkBetween, ScaleDevices>;

// Throws Error(bad_input) if there is no such machine, type, zone or region, if no machine would be left, or if
// the cluster's links do not cover the new pairs of machines.
[[nodiscard]] Cluster changed(const Cluster& cluster, const ClusterChange& change);

// The plan on another cluster, with machines matched by name. Returns nullopt if a device is missing there or
// has another type.
[[nodiscard]] std::optional<Plan> moved(const Plan& plan, const Cluster& from, const Cluster& to);

}  // namespace sextant::inline planner
