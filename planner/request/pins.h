// Tasks that stay where they are, and the rest is planned around them: "the reward model must stay on node3".
//
// A pin says where a task runs, not that nobody else may run there: others share its devices where that is
// best.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "documents/cluster.h"
#include "documents/plan.h"
#include "documents/workflow.h"
#include "planner/request/task_choices.h"

namespace sextant {

struct Pin {
  std::set<DeviceId> devices;      // exactly these
  std::optional<TaskPlan> layout;  // on them; none: as is best

  friend bool operator==(const Pin&, const Pin&) = default;
};

[[nodiscard]] Pin pin_to(std::set<DeviceId> devices);
[[nodiscard]] Pin pin_to(TaskPlan layout);

using Pins = std::map<std::string, Pin>;  // by task

// choices: of the search, by task; none: the default of all. Throws Error(bad_input) for a task that the
// workflow does not have, no device, one that the cluster does not have, and a layout that searches cannot
// hold: with unlike replicas or stages, or with execution options that are not among the task's choices.
void check_pins(const Pins& pins, const Workflow& workflow, const Cluster& cluster,
                const std::vector<TaskChoices>& choices = {});

// Throws Error(bad_input) where there are any: `planner` cannot obey them.
void require_no_pins(const Pins& pins, const std::string& planner);

// By device of the cluster, equal where the same tasks are pinned: what tells devices apart that are otherwise
// alike. Empty without pins.
[[nodiscard]] std::vector<int> marks_of(const Pins& pins, const Cluster& cluster);

// The same devices by name on another cluster. Nothing where one is not there, or is of another type.
[[nodiscard]] std::optional<Pins> moved(const Pins& pins, const Cluster& from, const Cluster& to);

}  // namespace sextant
