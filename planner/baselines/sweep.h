// The common part of planners with a fixed grouping of tasks, which try all sizes of the sets.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/arrangement.h"

namespace sextant::inline planner {

class Sweep {
 public:
  explicit Sweep(SearchRun& run);

  // sharing: sets of the run's unpinned tasks; pinned tasks stay where they are.
  //
  // Puts every task on its group's devices, with the best uniform degrees and micro-batch size: from the
  // fastest options with which all tasks fit, one task after the other takes the option that shortens the
  // iteration, until none does. Skips the sets if a task has no layout on its group.
  void look_at(const std::vector<UnitClass>& classes, const DeviceSets& sharing);

  // Puts tasks of group 0 on the first k of `units` and those of group 1 on the others, for every k that leaves
  // neither empty; splits between device types come first, then the half, the quarters and so on. grouping: of all
  // tasks, two groups. units: classes of one unit each, in any order. If all tasks of a group are pinned, the other
  // group takes the remaining units.
  void look_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units);

  // The same for one k, with no task pinned.
  void look_at_split(const TaskGrouping& grouping, const std::vector<UnitClass>& units, std::size_t size);

  // Puts tasks of group 0 on the first units, those of group 1 on the next, and so on, for every way to cut
  // `units` that leaves no group empty. No task may be pinned.
  void look_at_cuts(const TaskGrouping& grouping, const std::vector<UnitClass>& units);

  // Puts all tasks on all devices.
  void look_at_one_set();

  // Glances cost one plan for each deal, with the fastest options that fit together.
  // descend_from_best_glances() then improves the best of them, one after the other, as look_at() does.
  void glance_at_one_set(const std::vector<UnitClass>& units);
  void glance_at_splits(const TaskGrouping& grouping, const std::vector<UnitClass>& units);
  void descend_from_best_glances();

  // The minimum loss of plans that were found and fit; infinite before the first.
  [[nodiscard]] double min_loss() const { return min_loss_; }

 private:
  struct Glance {
    std::vector<UnitClass> classes;
    DeviceSets sharing;
    Scored scored;
  };
  void glance_at(const std::vector<UnitClass>& classes, const DeviceSets& sharing);
  using Look = std::function<void(const std::vector<UnitClass>&, const DeviceSets&)>;
  void for_each_split(const TaskGrouping& grouping, const std::vector<UnitClass>& units, const Look& look);
  void split(const TaskGrouping& grouping, const std::vector<UnitClass>& units, std::size_t size,
             const Look& look);
  [[nodiscard]] TaskGrouping of_dealt(const TaskGrouping& grouping) const;
  [[nodiscard]] bool look_beside_pins(const TaskGrouping& grouping, const std::vector<UnitClass>& units);
  void descend(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored scored);
  [[nodiscard]] bool improve(int task, const std::vector<std::uint16_t>& devices,
                             const std::vector<Option>& options, Scored& scored);

  SearchRun& run_;
  Arranger arranger_;
  std::vector<Glance> glances_;  // the best, best first
  double min_loss_ = std::numeric_limits<double>::infinity();
};

// Two groups: tasks for which `is_first` holds are group 0. One group if all tasks are on the same side.
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

// Blocks of devices that are assigned as a whole, in the order of the cluster: machines, or parts of them in
// small clusters. Each is a class of its own whose devices have the same pinned tasks. If
// SearchLimits::max_units is set, neighbours of one device type are merged until about that many are left.
[[nodiscard]] std::vector<UnitClass> units_in_order(const PlanRequest& request);

}  // namespace sextant::inline planner
