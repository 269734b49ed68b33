#include "planner/verify/framework_rules.h"

namespace sextant {
namespace {

void look_at_stages(const std::string& where, StageRule rule, const std::vector<Stage>& stages,
                    std::vector<Violation>& found) {
  for (std::size_t j = 1; j < stages.size(); ++j) {
    const bool is_at_end = j == 1 || j + 1 == stages.size();  // it or the one before it
    if (stages[j].layers == stages[j - 1].layers || rule == StageRule::any) continue;
    if (rule == StageRule::even_but_ends && is_at_end) continue;
    found.push_back({where, rules::kLayers,
                     "stage " + std::to_string(j) + " holds " + std::to_string(stages[j].layers) +
                         " layers and the one before it " + std::to_string(stages[j - 1].layers) +
                         ", which the framework cannot run"});
    return;
  }
}

}  // namespace

std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                            const std::vector<TaskChoices>& choices) {
  std::vector<Violation> found;
  for (std::size_t t = 0; t < choices.size() && t < workflow.tasks.size(); ++t) {
    const std::string& name = workflow.tasks[t].name;
    const auto planned = plan.tasks.find(name);
    if (planned == plan.tasks.end()) continue;
    const std::vector<Replica>& replicas = planned->second.replicas;
    for (std::size_t i = 0; i < replicas.size(); ++i)
      look_at_stages(place_of(name, i), choices[t].stages, replicas[i].stages, found);
    const int sequences = workflow.sequences();
    if (!choices[t].has_even_batch || sequences % static_cast<int>(replicas.size()) == 0) continue;
    found.push_back({name, rules::kBatchShares,
                     std::to_string(sequences) + " sequences cannot be split evenly over " +
                         std::to_string(replicas.size()) + " replicas, which the framework requires"});
  }
  return found;
}

}  // namespace sextant
