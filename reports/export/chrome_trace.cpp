#include "reports/export/chrome_trace.h"

#include <optional>
#include <set>
#include <string>

namespace sextant {
namespace {

constexpr double kMicroseconds = 1e6;  // in a second

Json named(const char* what, NodeId node, std::optional<DeviceId> device, const std::string& name) {
  Json event = {{"name", what}, {"ph", "M"}, {"pid", node.value}, {"args", {{"name", name}}}};
  if (device) event["tid"] = device->value;
  return event;
}

// Names of the nodes and devices that any task is on.
void add_names(const Prediction& prediction, const Cluster& cluster, Json& events) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : prediction.tasks) devices.insert(task.devices.begin(), task.devices.end());
  std::set<NodeId> nodes;
  for (const DeviceId device : devices) {
    const NodeId node = cluster.node_of(device);
    if (nodes.insert(node).second) {
      events.push_back(named("process_name", node, std::nullopt, cluster.nodes()[node.index()].name));
    }
    events.push_back(
        named("thread_name", node, device, cluster.device_name(device) + " " + cluster.type_name(device)));
  }
}

Json terms_of(const TaskPrediction& task) {
  Json terms = Json::object();
  for (const auto& [term, time_s] : task.terms_s) {
    if (time_s != 0) terms[std::string(name_of(term)) + "_s"] = time_s;
  }
  return terms;
}

}  // namespace

Json chrome_trace(const Prediction& prediction, const Cluster& cluster) {
  Json events = Json::array();
  add_names(prediction, cluster, events);
  for (const auto& [name, task] : prediction.tasks) {
    for (const DeviceId device : task.devices) {
      events.push_back({{"name", name},
                        {"cat", "task"},
                        {"ph", "X"},
                        {"ts", task.start_s * kMicroseconds},
                        {"dur", (task.end_s - task.start_s) * kMicroseconds},
                        {"pid", cluster.node_of(device).value},
                        {"tid", device.value},
                        {"args", terms_of(task)}});
    }
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

}  // namespace sextant
