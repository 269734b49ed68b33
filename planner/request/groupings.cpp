#include "planner/request/groupings.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

// Appends every completion of the first tasks' groups.
void complete(std::size_t tasks, TaskGrouping& begun, std::vector<TaskGrouping>& out) {
  if (begun.group_of.size() == tasks) {
    out.push_back(begun);
    return;
  }
  const int groups = begun.groups;
  for (int group = 0; group <= groups; ++group) {
    begun.group_of.push_back(group);
    begun.groups = std::max(groups, group + 1);
    complete(tasks, begun, out);
    begun.group_of.pop_back();
  }
  begun.groups = groups;
}

// Groups numbered as they first appear.
TaskGrouping renumbered(const std::vector<int>& group_of) {
  TaskGrouping grouping;
  std::vector<int> number(group_of.size(), -1);
  for (const int group : group_of) {
    int& known = number[static_cast<std::size_t>(group)];
    if (known < 0) known = grouping.groups++;
    grouping.group_of.push_back(known);
  }
  return grouping;
}

// Each group gets one task, then every other task a group.
TaskGrouping random_grouping(int tasks, int groups, std::mt19937_64& random) {
  const auto below = [&random](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::vector<std::size_t> order(static_cast<std::size_t>(tasks));
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  std::vector<int> group_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_first = i < static_cast<std::size_t>(groups);
    group_of[order[i]] = static_cast<int>(is_first ? i : below(static_cast<std::size_t>(groups)));
  }
  return renumbered(group_of);
}

}  // namespace

std::vector<TaskGrouping> task_groupings(int tasks) {
  SEXTANT_CHECK(tasks >= 1);
  std::vector<TaskGrouping> out;
  TaskGrouping begun;
  complete(static_cast<std::size_t>(tasks), begun, out);
  return out;
}

std::vector<TaskGrouping> sampled_groupings(int tasks, int max_groups, std::size_t count,
                                            std::mt19937_64& random) {
  SEXTANT_CHECK(tasks >= 1 && max_groups >= 1);
  constexpr std::size_t kTries = 4;  // for each that is wanted: the same one may be drawn again
  const int maximum = std::min(tasks, max_groups);
  std::vector<TaskGrouping> out{{std::vector<int>(static_cast<std::size_t>(tasks), 0), 1}};
  std::set<std::vector<int>> seen{out.front().group_of};
  for (std::size_t attempt = 0; maximum > 1 && out.size() < count && attempt < kTries * count; ++attempt) {
    const int groups = 2 + static_cast<int>(attempt % static_cast<std::size_t>(maximum - 1));
    TaskGrouping grouping = random_grouping(tasks, groups, random);
    if (seen.insert(grouping.group_of).second) out.push_back(std::move(grouping));
  }
  return out;
}

std::vector<TaskGrouping> groupings_in_two(int tasks) {
  std::vector<TaskGrouping> out;
  if (tasks <= kMaxListedTasks) {
    out = task_groupings(tasks);
    std::erase_if(out, [](const TaskGrouping& grouping) { return grouping.groups != 2; });
    return out;
  }
  for (std::size_t apart = 0; apart < static_cast<std::size_t>(tasks); ++apart) {
    std::vector<int> group_of(static_cast<std::size_t>(tasks), 0);
    group_of[apart] = 1;
    out.push_back(renumbered(group_of));
  }
  return out;
}

}  // namespace sextant::inline planner
