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

// Compares on its own what the search keeps equal.
bool is_one_engine(const TaskPlan& task, const TaskPlan& other) {
  if (task.replicas.size() != other.replicas.size()) return false;
  for (std::size_t i = 0; i < task.replicas.size(); ++i) {
    const std::vector<Stage>&stages = task.replicas[i].stages, &of_other = other.replicas[i].stages;
    if (stages.size() != of_other.size()) return false;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      if (stages[j].layers != of_other[j].layers || stages[j].devices != of_other[j].devices) return false;
    }
  }
  const Execution &one = task.execution, &of_other = other.execution;
  return one.context_parallel == of_other.context_parallel && one.expert_parallel == of_other.expert_parallel &&
         one.expert_tensor_parallel == of_other.expert_tensor_parallel;
}

}  // namespace

std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                            const std::vector<TaskChoices>& choices,
                                            const TaskPairs& same_layout) {
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
  for (const auto& [task, other] : same_layout) {
    const std::string &name = workflow.tasks[task].name, &other_name = workflow.tasks[other].name;
    if (plan.tasks.contains(name) && plan.tasks.contains(other_name) &&
        !is_one_engine(plan.tasks.at(name), plan.tasks.at(other_name)))
      found.push_back(
          {other_name, rules::kSameLayout,
           "its layout is not that of " + name + ", which the same engine of the framework computes"});
  }
  return found;
}

}  // namespace sextant
