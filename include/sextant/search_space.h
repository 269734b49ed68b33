// What a search may look at: tasks that are pinned, the limits of its space, and the layouts of one task.
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

// A pin keeps a task where it is, and the rest is planned around it: "the reward model must stay on node3". It says where
// the task runs, not that nobody else may run there: others share its devices where that is best.
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

struct SearchLimits {
  std::vector<int> micro_batch_sequences{1, 2, 4, 8, 16};
  bool try_recompute = false;      // training with and without recomputation
  bool try_uneven_stages = false;  // every way to deal layers to stages, not only the even one
  bool balances_load = true;       // layers and batch shares by speed too (HetRL 4.2, Figure 4; planners.h)
  bool within_unit_space = false;  // of sha-ea without pins: none but exact's plans (exact/unit_space.h)
  int max_units = 0;               // of planners that sweep sizes of sets: 0: as finely as they do
  Pins pins = {};                  // tasks that stay where they are (planners.h: who can keep them there)
  std::uint64_t max_layouts_per_task = 200'000;
  std::uint64_t max_plans = 200'000'000;
};

// Every layout of a task: each non-empty subset of devices, each dp * pp * tp that uses the subset up, each
// assignment of its devices to replicas, stages and shards that differs by more than renaming replicas or
// shards, each execution, decode batch and micro-batch size of its choices. Degrees that the model's heads,
// layers, the batch or the choices forbid are left out.
// Of a task that is pinned the layouts on its devices alone, or the one that it is pinned to.
// Throws Error(bad_input) when there are more than limits.max_layouts_per_task: the space is for small
// clusters (some 8 devices).
[[nodiscard]] std::vector<TaskPlan> task_layouts(const Task& task, const Workflow& workflow,
                                                 const Cluster& cluster, const SearchLimits& limits,
                                                 const TaskChoices& choices = {});

}  // namespace sextant
