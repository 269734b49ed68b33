// What planners do that fix which tasks share devices and try sizes of the sets one after the other.
#pragma once

#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/arrangement.h"

namespace sextant {

class Sweep {
 public:
  explicit Sweep(SearchRun& run);

  // sharing: of the run's dealt tasks; those that are pinned are where they are.
  //
  // Every task on all devices of its group, with the uniform degrees and the micro-batch size that are best for
  // the iteration: from the fastest of each task with which all fit, one task after the other takes the option
  // that shortens the iteration, until none does. Nothing where a task has no layout on its group.
  void look_at(const std::vector<UnitClass>& classes, const DeviceSets& sharing);

  // Tasks of group 0 on the first k of `units`, those of group 1 on the others, for every k that leaves none
  // empty. grouping: of all tasks, two groups. units: classes of one unit each, in any order. Where all tasks
  // of a group are pinned there is nothing to try: the others take what these leave.
  void look_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units);

  // Tasks of group 0 on the first units, those of group 1 on the next, and so on, for every way to cut `units`
  // that leaves no group empty. Nothing may be pinned.
  void look_at_cuts(const TaskGrouping& grouping, const std::vector<UnitClass>& units);

  // All tasks on all devices.
  void look_at_one_set();

 private:
  [[nodiscard]] TaskGrouping of_dealt(const TaskGrouping& grouping) const;
  [[nodiscard]] bool look_beside_pins(const TaskGrouping& grouping, const std::vector<UnitClass>& units);
  void descend(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored scored);
  [[nodiscard]] bool improve(int task, const std::vector<std::uint16_t>& devices,
                             const std::vector<Option>& options, Scored& scored);

  SearchRun& run_;
  Arranger arranger_;
};

// Two groups: tasks for which `is_first` holds are group 0. One group where all or none are.
template <typename IsFirst>
[[nodiscard]] TaskGrouping two_groups(const Workflow& workflow, IsFirst is_first) {
  TaskGrouping grouping;
  bool has_first = false, has_second = false;
  for (const Task& task : workflow.tasks) {
    const bool first = is_first(task);
    grouping.group_of.push_back(first ? 0 : 1);
    (first ? has_first : has_second) = true;
  }
  grouping.groups = has_first && has_second ? 2 : 1;
  if (grouping.groups == 1) grouping.group_of.assign(workflow.tasks.size(), 0);
  return grouping;
}

// Blocks that are dealt whole, in the order of the cluster: machines, or parts of them in small clusters. Each
// a class of its own, with devices on which the same tasks are pinned. Where SearchLimits::max_units asks for
// fewer, neighbours of one device type are one: about so many.
[[nodiscard]] std::vector<UnitClass> units_in_order(const PlanRequest& request);

}  // namespace sextant
