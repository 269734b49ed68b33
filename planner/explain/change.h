// The cluster as it might be: machines added or removed, links or devices of another speed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"

namespace sextant {

// `count` machines like the first of the type, at the end of the cluster; in the zone of that one, or of
// another that the cluster has.
struct AddMachines {
  std::string device_type;
  int count = 1;
  std::string zone;  // empty: that of the machine they are like
};

// Link exceptions go with the machines, zones and regions that they are about.
struct RemoveMachine {
  std::string node;
};

// The last of the type.
struct RemoveMachines {
  std::string device_type;
  int count = 1;
};

// All links at a level: its rate, those of machines' own (within_node), and exceptions whose ends meet there.
struct ChangeLinks {
  enum class What { bytes_per_s, latency_s };
  LinkLevel level = LinkLevel::within_zone;
  What what = What::bytes_per_s;
  bool is_factor = true;  // else the value itself
  double value = 1;
};

// The link between two machines, zones or regions, both ways: an exception of its own, and those between
// machines on either side.
struct ChangeLinkBetween {
  std::string from, to;  // names of one scope
  ChangeLinks::What what = ChangeLinks::What::bytes_per_s;
  bool is_factor = true;  // else the value itself
  double value = 1;
};

struct ScaleDevices {
  std::string device_type;
  std::string name =
      "flop_per_s";  // of all precisions; "memory_bytes_per_s", "memory_bytes", "host_bytes_per_s"
  double factor = 1;
};

using ClusterChange =
    std::variant<AddMachines, RemoveMachine, RemoveMachines, ChangeLinks, ChangeLinkBetween, ScaleDevices>;

// Throws Error(bad_input): no such machine, type, zone or region, no machine would be left, or the links of the
// cluster do not say how its machines would meet.
[[nodiscard]] Cluster changed(const Cluster& cluster, const ClusterChange& change);

// The same machines by name: the plan on another cluster. Nothing where a device is not there, or is of another
// type.
[[nodiscard]] std::optional<Plan> moved(const Plan& plan, const Cluster& from, const Cluster& to);

}  // namespace sextant
