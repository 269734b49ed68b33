#include "costmodel/iteration.h"

#include <algorithm>

namespace sextant::inline costmodel {

bool generation_overlaps(Mode mode, const std::set<DeviceId>& generation,
                         const std::vector<const std::set<DeviceId>*>& others) {
  if (mode == Mode::synchronous) return false;
  return std::none_of(others.begin(), others.end(),
                      [&](const std::set<DeviceId>* other) { return share_a_device(generation, *other); });
}

std::vector<int> parents_of(const Workflow& workflow, const Task& task) {
  std::vector<int> parents;
  for (std::size_t p = 0; p < workflow.tasks.size(); ++p) {
    if (std::find(task.after.begin(), task.after.end(), workflow.tasks[p].name) != task.after.end()) {
      parents.push_back(static_cast<int>(p));
    }
  }
  return parents;
}

}  // namespace sextant::inline costmodel
