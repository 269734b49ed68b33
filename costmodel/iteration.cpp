#include "costmodel/iteration.h"

#include <algorithm>

namespace sextant {

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

std::vector<WeightUse> other_weight_uses(const Workflow& workflow) {
  std::vector<WeightUse> uses;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& trained = workflow.tasks[t];
    if (trained.kind != TaskKind::training) continue;
    for (std::size_t u = 0; u < workflow.tasks.size(); ++u) {
      const Task& used = workflow.tasks[u];
      if (used.kind == TaskKind::training || used.model != trained.model) continue;
      const bool is_actor = workflow.has_weight_sync() && &trained == &workflow.actor_training() &&
                            &used == &workflow.actor_generation();
      if (!is_actor) uses.push_back({t, u});
    }
  }
  return uses;
}

}  // namespace sextant
