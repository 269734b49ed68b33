#include "planner/verify/framework_rules.h"

#include <algorithm>

namespace sextant::inline planner {
namespace {

void look_at_stages(const std::string& where, StageRule rule, const std::vector<Stage>& stages,
                    std::vector<Violation>& found) {
  int fewest = stages.front().layers, most = fewest;
  for (std::size_t j = 1; j < stages.size(); ++j) {
    fewest = std::min(fewest, stages[j].layers);
    most = std::max(most, stages[j].layers);
    const bool is_at_end = j == 1 || j + 1 == stages.size();  // it or the one before it
    if (stages[j].layers == stages[j - 1].layers || rule == StageRule::any) continue;
    if (rule == StageRule::even_but_ends && is_at_end) continue;
    if (rule == StageRule::differ_by_one && most - fewest <= 1) continue;
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

class EngineCheck {
 public:
  EngineCheck(const Plan& plan, const Workflow& workflow, const EngineRules& rules,
              std::vector<Violation>& found)
      : plan_(plan), workflow_(workflow), rules_(rules), found_(found) {}

  void look() {
    for (const auto& [task, other] : rules_.same_layout) look_at_engine(task, other);
    for (const EngineRules::Common& common : rules_.common_options) {
      for (const std::string& option : common.options) look_at_option(common.tasks, option);
    }
  }

 private:
  [[nodiscard]] const TaskPlan* planned(std::size_t task) const {
    const auto found = plan_.tasks.find(name(task));
    return found == plan_.tasks.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::string& name(std::size_t task) const { return workflow_.tasks[task].name; }

  void look_at_engine(std::size_t task, std::size_t other) {
    const TaskPlan *one = planned(task), *another = planned(other);
    if (one == nullptr || another == nullptr || is_one_engine(*one, *another)) return;
    found_.push_back(
        {name(other), rules::kSameLayout,
         "its layout is not that of " + name(task) + ", which the same engine of the framework computes"});
  }

  void look_at_option(const std::vector<std::size_t>& tasks, const std::string& option) {
    for (std::size_t i = 1; i < tasks.size(); ++i) {
      const TaskPlan *first = planned(tasks.front()), *other = planned(tasks[i]);
      if (first == nullptr || other == nullptr || option_of(*first, option) == option_of(*other, option))
        continue;
      found_.push_back(
          {name(tasks[i]), rules::kCommonOption,
           option + " is not that of " + name(tasks.front()) + ", for which the framework has one option"});
    }
  }

  const Plan& plan_;
  const Workflow& workflow_;
  const EngineRules& rules_;
  std::vector<Violation>& found_;
};

}  // namespace

bool has_rank_order(const TaskPlan& task, RankOrder order) {
  const std::vector<Replica>& replicas = task.replicas;
  if (order == RankOrder::any) return true;
  std::int64_t last = -1;
  const auto take = [&](const Stage& stage) {
    return std::all_of(stage.devices.begin(), stage.devices.end(), [&](DeviceId device) {
      const bool is_next = device.value > last;
      last = device.value;
      return is_next;
    });
  };
  if (order == RankOrder::replicas_outermost)
    return std::all_of(replicas.begin(), replicas.end(), [&](const Replica& replica) {
      return std::all_of(replica.stages.begin(), replica.stages.end(), take);
    });
  for (std::size_t j = 0; j < replicas.front().stages.size(); ++j) {
    for (const Replica& replica : replicas) {
      if (j < replica.stages.size() && !take(replica.stages[j])) return false;
    }
  }
  return true;
}

std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                            const std::vector<TaskChoices>& choices, const EngineRules& rules) {
  std::vector<Violation> found;
  for (std::size_t t = 0; t < choices.size() && t < workflow.tasks.size(); ++t) {
    const std::string& name = workflow.tasks[t].name;
    const auto planned = plan.tasks.find(name);
    if (planned == plan.tasks.end()) continue;
    const std::vector<Replica>& replicas = planned->second.replicas;
    for (std::size_t i = 0; i < replicas.size(); ++i)
      look_at_stages(place_of(name, i), choices[t].stages, replicas[i].stages, found);
    if (!has_rank_order(planned->second, choices[t].rank_order))
      found.push_back({name, rules::kRankOrder, "its ranks are not numbered as the framework numbers them"});
    const int sequences = workflow.sequences();
    if (!choices[t].has_even_batch || sequences % static_cast<int>(replicas.size()) == 0) continue;
    found.push_back({name, rules::kBatchShares,
                     std::to_string(sequences) + " sequences cannot be split evenly over " +
                         std::to_string(replicas.size()) + " replicas, which the framework requires"});
  }
  EngineCheck(plan, workflow, rules, found).look();
  return found;
}

}  // namespace sextant::inline planner
