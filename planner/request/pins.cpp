#include "sextant/search_space.h"

#include <algorithm>

#include "core/text.h"
#include "planner/request/candidate.h"
#include "sextant/error.h"

namespace sextant {
namespace {

const Task& task_named(const std::string& name, const Workflow& workflow) {
  const auto found = std::find_if(workflow.tasks.begin(), workflow.tasks.end(),
                                  [&](const Task& task) { return task.name == name; });
  if (found == workflow.tasks.end())
    throw_bad_input("workflow " + workflow.name + " has no task " + in_quotes(name) + " to pin");
  return *found;
}

std::string words_for(StageRule rule) {
  if (rule == StageRule::differ_by_one) return "they may differ by one layer";
  return std::string(rule == StageRule::even ? "all" : "all but the first and the last") +
         " must have the same number of layers";
}

void check_layout(const std::string& task, const Pin& pin, const TaskChoices& choices,
                  const Workflow& workflow) {
  const std::vector<Execution>& executions = choices.executions;
  if (pin.layout->devices() != pin.devices)
    throw_bad_input("task " + task + " is pinned to a layout on other devices");
  if (std::find(executions.begin(), executions.end(), pin.layout->execution) == executions.end())
    throw_bad_input("task " + task + " is pinned to a layout with other execution options than the search's");
  if (!canonical_layout_of(*pin.layout, workflow.sequences()))
    throw_bad_input("task " + task +
                    " is pinned to a layout whose replicas or stages differ, which planners do not support; "
                    "pin only its devices");
  std::vector<int> layers;
  for (const Stage& stage : pin.layout->replicas.front().stages) layers.push_back(stage.layers);
  if (!allows(choices.stages, layers))
    throw_bad_input("task " + task + " is pinned to a layout with stages that the framework cannot run: " +
                    words_for(choices.stages) + "; --any-layout plans it anyway");
}

DeviceId device_there(DeviceId device, const Cluster& from, const std::map<std::string, DeviceId>& there,
                      const Cluster& to) {
  const auto found = there.find(from.device_name(device));
  const bool is_same = found != there.end() && to.type_name(found->second) == from.type_name(device);
  return is_same ? found->second : DeviceId{-1};
}

}  // namespace

Pin pin_to(std::set<DeviceId> devices) { return {std::move(devices), std::nullopt}; }

Pin pin_to(TaskPlan layout) {
  std::set<DeviceId> devices = layout.devices();
  return {std::move(devices), std::move(layout)};
}

void check_pins(const Pins& pins, const Workflow& workflow, const Cluster& cluster,
                const std::vector<TaskChoices>& choices) {
  for (const auto& [name, pin] : pins) {
    const Task& task = task_named(name, workflow);
    if (pin.devices.empty()) throw_bad_input("task " + name + " is pinned to no device");
    for (const DeviceId device : {*pin.devices.begin(), *pin.devices.rbegin()}) {
      if (device.value < 0 || device.value >= cluster.device_count())
        throw_bad_input("task " + name + " is pinned to device " + std::to_string(device.value) +
                        ", which cluster " + cluster.name() + " does not have");
    }
    const auto t = static_cast<std::size_t>(&task - workflow.tasks.data());
    if (pin.layout) check_layout(name, pin, choices_for(choices, t), workflow);
  }
}

void require_no_pins(const Pins& pins, const std::string& planner) {
  if (pins.empty()) return;
  throw_bad_input("planner " + planner + " places all tasks itself and cannot keep " + pins.begin()->first +
                  " where it is pinned; sha-ea can");
}

std::vector<int> marks_of(const Pins& pins, const Cluster& cluster) {
  if (pins.empty()) return {};
  std::map<std::vector<bool>, int> known;  // by whether each task is pinned there
  std::vector<int> marks;
  for (int d = 0; d < cluster.device_count(); ++d) {
    std::vector<bool> tasks;
    for (const auto& [name, pin] : pins) tasks.push_back(pin.devices.contains(DeviceId{d}));
    marks.push_back(known.try_emplace(std::move(tasks), static_cast<int>(known.size())).first->second);
  }
  return marks;
}

std::optional<Pins> moved(const Pins& pins, const Cluster& from, const Cluster& to) {
  std::map<std::string, DeviceId> there;
  for (int d = 0; d < to.device_count(); ++d) there[to.device_name(DeviceId{d})] = DeviceId{d};
  Pins out;
  for (const auto& [name, pin] : pins) {
    Pin& other = out[name];
    for (const DeviceId device : pin.devices) {
      const DeviceId found = device_there(device, from, there, to);
      if (found.value < 0) return std::nullopt;
      other.devices.insert(found);
    }
    other.layout = pin.layout;
    if (!other.layout) continue;
    for (Replica& replica : other.layout->replicas) {
      for (Stage& stage : replica.stages) {
        for (DeviceId& device : stage.devices) device = device_there(device, from, there, to);
      }
    }
  }
  return out;
}

}  // namespace sextant
