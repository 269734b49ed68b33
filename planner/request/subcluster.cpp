#include "planner/request/subcluster.h"

#include <algorithm>
#include <map>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

// Old names of devices that are left, with their new ones: the devices of a node are numbered anew.
std::map<std::string, std::string> renamed(const Cluster& whole, const Subcluster& part) {
  std::map<std::string, std::string> names;
  for (std::size_t d = 0; d < part.original.size(); ++d)
    names[whole.device_name(part.original[d])] = part.cluster.device_name(DeviceId{static_cast<int>(d)});
  return names;
}

bool has_node_with(const Cluster& cluster, LinkScope scope, const std::string& name) {
  for (const Node& node : cluster.nodes()) {
    const std::string& own = scope == LinkScope::node   ? node.name
                             : scope == LinkScope::zone ? node.zone
                                                        : node.region;
    if (own == name) return true;
  }
  return false;
}

std::vector<LinkException> exceptions_within(const Cluster& whole, const Subcluster& part) {
  const std::map<std::string, std::string> names = renamed(whole, part);
  std::vector<LinkException> kept;
  for (LinkException exception : whole.exceptions()) {
    if (exception.scope == LinkScope::device) {
      const auto from = names.find(exception.from), to = names.find(exception.to);
      if (from == names.end() || to == names.end()) continue;
      exception.from = from->second;
      exception.to = to->second;
    } else if (!has_node_with(part.cluster, exception.scope, exception.from) ||
               !has_node_with(part.cluster, exception.scope, exception.to)) {
      continue;
    }
    kept.push_back(std::move(exception));
  }
  return kept;
}

}  // namespace

Plan Subcluster::on_whole(Plan plan) const {
  for (auto& [name, task] : plan.tasks) {
    for (Replica& replica : task.replicas) {
      for (Stage& stage : replica.stages) {
        for (DeviceId& device : stage.devices) device = original[device.index()];
      }
    }
  }
  return plan;
}

Pins Subcluster::pins_within(const Pins& pins, const Cluster& whole) const {
  const auto device_within = [&](const std::string& task, DeviceId device) {
    const auto found = std::lower_bound(original.begin(), original.end(), device);
    if (found == original.end() || *found != device)
      throw_bad_input("task " + task + " is pinned to " + whole.device_name(device) + ", which is excluded");
    return DeviceId{static_cast<int>(found - original.begin())};
  };
  Pins within;
  for (const auto& [task, pin] : pins) {
    Pin& other = within[task];
    for (const DeviceId device : pin.devices) other.devices.insert(device_within(task, device));
    other.layout = pin.layout;
    if (!other.layout) continue;
    for (Replica& replica : other.layout->replicas) {
      for (Stage& stage : replica.stages) {
        for (DeviceId& device : stage.devices) device = device_within(task, device);
      }
    }
  }
  return within;
}

Subcluster without(const Cluster& cluster, const std::set<DeviceId>& devices) {
  Subcluster part;
  std::vector<Node> nodes;
  int next = 0;
  for (Node node : cluster.nodes()) {
    int left = 0;
    for (int d = 0; d < node.devices; ++d, ++next) {
      if (devices.contains(DeviceId{next})) continue;
      part.original.push_back(DeviceId{next});
      ++left;
    }
    node.devices = left;
    if (left > 0) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) throw_bad_input("cluster " + cluster.name() + ": all devices are excluded");
  part.cluster = Cluster(cluster.name(), cluster.device_types(), nodes, cluster.levels());
  part.cluster = Cluster(cluster.name(), cluster.device_types(), nodes, cluster.levels(),
                         exceptions_within(cluster, part));
  return part;
}

std::set<DeviceId> devices_named(const Cluster& cluster, const std::string& name) {
  std::set<DeviceId> devices;
  for (int d = 0; d < cluster.device_count(); ++d) {
    const Node& node = cluster.nodes()[cluster.node_of(DeviceId{d}).index()];
    if (node.name == name || node.zone == name || node.region == name ||
        cluster.device_name(DeviceId{d}) == name)
      devices.insert(DeviceId{d});
  }
  if (devices.empty()) {
    const Node& first = cluster.nodes().front();
    throw_bad_input("cluster " + cluster.name() + " has no node, device, zone or region " + in_quotes(name) +
                    "; its first node is " + in_quotes(first.name) + ", with device " +
                    in_quotes(cluster.device_name(DeviceId{0})));
  }
  return devices;
}

}  // namespace sextant::inline planner
