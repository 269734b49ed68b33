// The space of a search: pinned tasks, limits, and the layouts of one task.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant {

// A pin fixes the devices of a task, and the search plans the rest: "the reward model must stay on node3".
// Other tasks may still share the pinned devices if that is best.
struct Pin {
  std::set<DeviceId> devices;      // exactly these
  std::optional<TaskPlan> layout;  // on these devices; absent: the search chooses it

  friend bool operator==(const Pin&, const Pin&) = default;
};

[[nodiscard]] Pin pin_to(std::set<DeviceId> devices);
[[nodiscard]] Pin pin_to(TaskPlan layout);

using Pins = std::map<std::string, Pin>;  // by task

// `choices`: those of the search, by task; empty: the defaults. Throws Error(bad_input) for a task that is not
// in the workflow, an empty device set, a device that is not in the cluster, and a layout that searches cannot
// represent: different replicas or stages, or execution options that are not among the task's choices.
void check_pins(const Pins& pins, const Workflow& workflow, const Cluster& cluster,
                const std::vector<TaskChoices>& choices = {});

// Throws Error(bad_input) if there are any pins: `planner` does not support them.
void require_no_pins(const Pins& pins, const std::string& planner);

// A number per device of the cluster; devices have the same number if the same tasks are pinned to them. It
// distinguishes devices that are otherwise alike. Empty without pins.
[[nodiscard]] std::vector<int> marks_of(const Pins& pins, const Cluster& cluster);

// The pins on another cluster, by device name. Returns nullopt if a device is missing or of another type there.
[[nodiscard]] std::optional<Pins> moved(const Pins& pins, const Cluster& from, const Cluster& to);

struct SearchLimits {
  std::vector<int> micro_batch_sequences{1, 2, 4, 8, 16};
  bool try_recompute = false;      // training with and without recomputation
  bool try_uneven_stages = false;  // every assignment of layers to stages, not only the even one
  bool balances_load = true;       // sizes layers and batch shares by speed (HetRL 4.2, Figure 4)
  bool within_unit_space = false;  // sha-ea without pins: only plans of exact's space (exact/unit_space.h)
  int max_units = 0;               // planners that sweep set sizes: maximum number of units; 0: their own
  Pins pins = {};                  // fixed tasks (planners.h: the planners that support them)
  std::uint64_t max_layouts_per_task = 200'000;
  std::uint64_t max_plans = 200'000'000;
};

// Every layout of a task: each non-empty subset of devices, each dp * pp * tp that uses the whole subset, each
// assignment of its devices to replicas, stages and shards that differs by more than renaming replicas or
// shards, and each execution, decode batch and micro-batch size of its choices. Degrees that the model's heads,
// layers, the batch or the choices forbid are left out.
// For a pinned task only the layouts on its devices, or its pinned layout.
// Throws Error(bad_input) if there are more than limits.max_layouts_per_task: the space is for small
// clusters (about 8 devices).
[[nodiscard]] std::vector<TaskPlan> task_layouts(const Task& task, const Workflow& workflow,
                                                 const Cluster& cluster, const SearchLimits& limits,
                                                 const TaskChoices& choices = {});

}  // namespace sextant
