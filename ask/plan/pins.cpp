#include "ask/plan/pins.h"

#include <algorithm>

#include "ask/words/nearest_name.h"
#include "core/text.h"
#include "planner/request/subcluster.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {
namespace {

struct Written {
  std::string task;
  Pin pin;
};

void require_task(const std::string& task, const Workflow& workflow) {
  std::vector<std::string_view> names;
  std::string all;
  for (const Task& known : workflow.tasks) {
    if (known.name == task) return;
    names.push_back(known.name);
    all += (all.empty() ? "" : ", ") + known.name;
  }
  throw_bad_input("workflow " + workflow.name + " has no task " + in_quotes(task) + did_you_mean(task, names) +
                  " (tasks: " + all + ")");
}

// Reads names separated by commas; no device may be listed twice.
std::set<DeviceId> parse_devices(const std::string& text, const Cluster& cluster) {
  std::set<DeviceId> devices;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    if (name.empty())
      throw_bad_input("expected a node, device (node/3), zone or region after \"=\" and each comma");
    const std::set<DeviceId> named = devices_named(cluster, name);
    for (const DeviceId device : named) {
      if (!devices.insert(device).second) throw_bad_input(cluster.device_name(device) + " is listed twice");
    }
    begin = end + 1;
  }
  return devices;
}

Written parse_pin(const std::string& text, const LoadedInputs& loaded) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw_bad_input("expected TASK=DEVICES, such as actor_generation=node0");
  const std::string task = text.substr(0, equals);
  require_task(task, loaded.workflow);
  return {task, pin_to(parse_devices(text.substr(equals + 1), loaded.cluster))};
}

Written parse_layout(const std::string& text, const LoadedInputs& loaded, std::vector<std::string>& notes) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw_bad_input("expected PLAN.json:TASK, such as plan.json:actor_generation");
  const std::string task = text.substr(colon + 1);
  require_task(task, loaded.workflow);
  std::vector<std::string> assumed;
  const Plan plan = load_plan(text.substr(0, colon), loaded, assumed);
  notes.insert(notes.end(), assumed.begin(), assumed.end());
  return {task, pin_to(plan.tasks.at(task))};
}

template <typename Parse>
void add_pins(const char* option, const std::vector<std::string>& all, Parse parse, const LoadedInputs& loaded,
              std::vector<TaskChoices>& choices, Pins& pins) {
  for (const std::string& text : all) {
    try {
      Written written = parse(text, loaded);
      if (written.pin.layout) add_execution(choices, loaded.workflow, written.task, *written.pin.layout);
      check_pins({{written.task, written.pin}}, loaded.workflow, loaded.cluster, choices);
      if (!pins.try_emplace(written.task, std::move(written.pin)).second)
        throw_bad_input("task " + written.task + " is pinned twice");
    } catch (const Error& error) {
      throw Error(error.kind(), std::string(option) + " " + text + ": " + error.what());
    }
  }
}

}  // namespace

Pins pins_of(const PinOptions& options, const LoadedInputs& loaded, std::vector<TaskChoices>& choices,
             std::vector<std::string>& notes) {
  const auto parse_noted = [&](const std::string& text, const LoadedInputs& of) {
    return parse_layout(text, of, notes);
  };
  Pins pins;
  add_pins("--pin", options.devices, parse_pin, loaded, choices, pins);
  add_pins("--pin-from", options.layouts, parse_noted, loaded, choices, pins);
  return pins;
}

void record_pins(const Pins& pins, SearchRecord& record) {
  for (const auto& [task, pin] : pins) {
    record.pins[task] = pin.devices;
    if (pin.layout) record.pinned_layouts.insert(task);
  }
}

}  // namespace sextant::inline ask
