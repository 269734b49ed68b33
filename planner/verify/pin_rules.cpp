#include "planner/verify/pin_rules.h"

namespace sextant::inline planner {
namespace {

// "0 to 3, 8": runs of devices that follow each other.
std::string numbers_of(const std::set<DeviceId>& devices) {
  std::string text;
  for (auto first = devices.begin(); first != devices.end();) {
    auto last = first;
    for (auto next = std::next(last); next != devices.end() && next->value == last->value + 1; ++next)
      last = next;
    text += (text.empty() ? "" : ", ") + std::to_string(first->value);
    if (first != last) text += " to " + std::to_string(last->value);
    first = std::next(last);
  }
  return text;
}

bool is_same_layout(const TaskPlan& planned, const TaskPlan& asked, int sequences) {
  if (planned.replicas.size() != asked.replicas.size()) return false;
  for (std::size_t i = 0; i < planned.replicas.size(); ++i) {
    if (planned.replicas[i].stages != asked.replicas[i].stages ||
        planned.replicas[i].length_rank != asked.replicas[i].length_rank)
      return false;
  }
  return planned.micro_batch_sequences == asked.micro_batch_sequences &&
         planned.decode_batch_sequences == asked.decode_batch_sequences &&
         planned.recompute == asked.recompute && planned.execution == asked.execution &&
         replica_sequences(planned, sequences) == replica_sequences(asked, sequences);
}

}  // namespace

std::vector<Violation> pin_violations(const Plan& plan, const Workflow& workflow, const Pins& pins) {
  std::vector<Violation> found;
  for (const auto& [name, pin] : pins) {
    const auto planned = plan.tasks.find(name);
    if (planned == plan.tasks.end()) {
      found.push_back({name, rules::kPinned, "the plan does not have the task"});
    } else if (const std::set<DeviceId> devices = planned->second.devices(); devices != pin.devices) {
      found.push_back(
          {name, rules::kPinned,
           "is on devices " + numbers_of(devices) + ", but is pinned to " + numbers_of(pin.devices)});
    } else if (pin.layout && !is_same_layout(planned->second, *pin.layout, workflow.sequences())) {
      found.push_back({name, rules::kPinned,
                       "has another layout than the one that it is pinned to: " + describe(*pin.layout)});
    }
  }
  return found;
}

}  // namespace sextant::inline planner
