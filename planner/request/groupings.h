// Level 1 of HetRL's search (section 3.2): the groups of tasks that share their GPUs.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace sextant::inline planner {

// A partition of tasks into disjoint groups, numbered as they first appear.
struct TaskGrouping {
  std::vector<int> group_of;  // by task
  int groups = 0;

  friend bool operator==(const TaskGrouping&, const TaskGrouping&) = default;
};

// All partitions of `tasks` >= 1 tasks, Bell(tasks) of them, in the order of restricted growth strings (Knuth
// 7.2.1.5): all tasks together first, each alone last.
[[nodiscard]] std::vector<TaskGrouping> task_groupings(int tasks);

// Workflows with more tasks than this are searched by samples, because the number of partitions grows faster
// than any power (Bell numbers: 4,140 for 8 tasks, 4.2 million for 12).
inline constexpr int kMaxListedTasks = 8;

// `count` different partitions of `tasks` in at most `max_groups` groups, or fewer if not enough exist: all
// tasks together first, then groups of random tasks, with every number of groups equally often.
[[nodiscard]] std::vector<TaskGrouping> sampled_groupings(int tasks, int max_groups, std::size_t count,
                                                          std::mt19937_64& random);

// Partitions of `tasks` >= 1 in two groups: all up to kMaxListedTasks, else those with one task apart.
[[nodiscard]] std::vector<TaskGrouping> groupings_in_two(int tasks);

}  // namespace sextant::inline planner
