// Level 1 of HetRL's search (section 3.2): which tasks share their GPUs.
#pragma once

#include <vector>

namespace sextant {

// A partition of tasks into disjoint groups, numbered as they first appear.
struct TaskGrouping {
  std::vector<int> group_of;  // by task
  int groups = 0;

  friend bool operator==(const TaskGrouping&, const TaskGrouping&) = default;
};

// All partitions of `tasks` >= 1 tasks, Bell(tasks) of them; all tasks together first, each alone last. In the
// order of restricted growth strings (Knuth 7.2.1.5).
[[nodiscard]] std::vector<TaskGrouping> task_groupings(int tasks);

}  // namespace sextant
