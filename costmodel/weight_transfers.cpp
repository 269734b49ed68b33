#include "costmodel/weight_transfers.h"

namespace sextant::inline costmodel {

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

}  // namespace sextant::inline costmodel
