#include "planner/space/groupings.h"

#include <algorithm>

#include "core/error.h"

namespace sextant {
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

}  // namespace

std::vector<TaskGrouping> task_groupings(int tasks) {
  SEXTANT_CHECK(tasks >= 1);
  std::vector<TaskGrouping> out;
  TaskGrouping begun;
  complete(static_cast<std::size_t>(tasks), begun, out);
  return out;
}

}  // namespace sextant
