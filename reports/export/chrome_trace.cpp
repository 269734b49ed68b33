#include "reports/export/chrome_trace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/json_value.h"

namespace sextant::inline reports {
namespace {

constexpr double kMicroseconds = 1e6;  // in a second

Json named(const char* what, NodeId node, std::optional<DeviceId> device, const std::string& name) {
  Json event = {{"name", what}, {"ph", "M"}, {"pid", node.value}, {"args", {{"name", name}}}};
  if (device) event["tid"] = device->value;
  return event;
}

// The devices that any task uses.
std::set<DeviceId> devices_of(const Prediction& prediction) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : prediction.tasks) devices.insert(task.devices.begin(), task.devices.end());
  return devices;
}

// Names of the nodes and devices.
void add_names(const std::set<DeviceId>& devices, const Cluster& cluster, Json& events) {
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

struct Span {
  std::string name;
  const char* category;
  double start_s;
  double end_s;
  Json arguments;
};

template <typename Devices>
void add_span(const Span& span, const Devices& devices, const Cluster& cluster, Json& events) {
  for (const DeviceId device : devices) {
    events.push_back({{"name", span.name},
                      {"cat", span.category},
                      {"ph", "X"},
                      {"ts", span.start_s * kMicroseconds},
                      {"dur", (span.end_s - span.start_s) * kMicroseconds},
                      {"pid", cluster.node_of(device).value},
                      {"tid", device.value},
                      {"args", span.arguments}});
  }
}

// Adds the events after the tasks of an iteration.
void add_end(const Prediction& prediction, const std::set<DeviceId>& devices, const Cluster& cluster,
             Json& events) {
  double tasks_s = 0;
  for (const auto& [name, task] : prediction.tasks) tasks_s = std::max(tasks_s, task.end_s);
  const double synced_s = tasks_s + prediction.weight_sync_s - prediction.weight_sync_hidden_s;
  if (synced_s > tasks_s) {
    add_span({"weight_sync", "iteration", tasks_s, synced_s, Json::object()}, devices, cluster, events);
  }
  if (prediction.iteration_s > synced_s) {
    add_span({"iteration_overhead", "iteration", synced_s, prediction.iteration_s, Json::object()}, devices,
             cluster, events);
  }
}

}  // namespace

Json chrome_trace(const Prediction& prediction, const Cluster& cluster) {
  const std::set<DeviceId> devices = devices_of(prediction);
  Json events = Json::array();
  add_names(devices, cluster, events);
  for (const auto& [name, task] : prediction.tasks) {
    add_span({name, "task", task.start_s, task.end_s, terms_of(task)}, task.devices, cluster, events);
  }
  add_end(prediction, devices, cluster, events);
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

}  // namespace sextant::inline reports
