#include "planner/search/engine_rules.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace sextant::inline planner {
namespace {

bool have_common_option(const EngineRules& rules, std::size_t task, std::size_t other,
                        std::string_view option) {
  const auto has = [](const auto& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  return std::any_of(
      rules.common_options.begin(), rules.common_options.end(), [&](const EngineRules::Common& common) {
        return has(common.tasks, task) && has(common.tasks, other) && has(common.options, option);
      });
}

// True if any two executions of the tasks, of which a plan has one each, keep the weights in the same place and divide
// them by the same devices.
bool keep_weights_alike(const EngineRules& rules, const std::vector<TaskChoices>& all, std::size_t task,
                        std::size_t other) {
  const bool offload_alike = have_common_option(rules, task, other, "offload_weights");
  const bool shard_alike = have_common_option(rules, task, other, "sharded_over");
  const bool zero_alike = have_common_option(rules, task, other, "zero_stage_3") ||
                          have_common_option(rules, task, other, "zero_stage");
  const std::vector<Execution>&executions = choices_for(all, task).executions,
        &others = choices_for(all, other).executions;
  return std::all_of(executions.begin(), executions.end(), [&](const Execution& a) {
    return std::all_of(others.begin(), others.end(), [&](const Execution& b) {
      return (zero_alike || (a.zero_stage == 3) == (b.zero_stage == 3)) &&
             (offload_alike || a.offload_weights == b.offload_weights) &&
             (shard_alike || a.sharded_over == b.sharded_over);
    });
  });
}

}  // namespace

bool have_same_layout(const TaskPlan& task, const TaskPlan& other) {
  const auto degrees = [](const Execution& execution) {
    return std::tuple(execution.context_parallel, execution.expert_parallel, execution.expert_tensor_parallel);
  };
  return degrees(task.execution) == degrees(other.execution) &&
         std::equal(task.replicas.begin(), task.replicas.end(), other.replicas.begin(), other.replicas.end(),
                    [](const Replica& a, const Replica& b) { return a.stages == b.stages; });
}

std::vector<std::vector<std::size_t>> connected_tasks(const TaskPairs& pairs) {
  std::vector<std::set<std::size_t>> sets;
  for (const auto& [task, other] : pairs) {
    std::set<std::size_t> joined{task, other};
    std::erase_if(sets, [&](const std::set<std::size_t>& set) {
      if (!set.contains(task) && !set.contains(other)) return false;
      joined.insert(set.begin(), set.end());
      return true;
    });
    sets.push_back(std::move(joined));
  }
  std::vector<std::vector<std::size_t>> listed;
  for (const std::set<std::size_t>& set : sets) listed.emplace_back(set.begin(), set.end());
  return listed;
}

TaskPairs one_copy_of(const EngineRules& rules, const Workflow& workflow) {
  TaskPairs pairs;
  for (const std::vector<std::size_t>& tasks : connected_tasks(rules.same_layout)) {
    for (const std::size_t pass : tasks) {
      const Task& own = workflow.tasks[pass];
      if (own.kind != TaskKind::inference || own.name == task_names::kReferenceInference) continue;
      for (const std::size_t training : tasks) {
        const Task& other = workflow.tasks[training];
        if (other.kind == TaskKind::training && other.model == own.model) pairs.emplace_back(pass, training);
      }
    }
  }
  return pairs;
}

TaskPairs one_copy_on_devices(const PlanRequest& request) {
  const EngineRules& rules = request.engine_rules;
  if (!request.limits.pins.empty()) return {};
  TaskPairs pairs = one_copy_of(rules, request.workflow);
  std::erase_if(pairs, [&](const auto& pair) {
    return !keep_weights_alike(rules, request.choices, pair.first, pair.second);
  });
  return pairs;
}

std::optional<bool> asked_offload(std::size_t task, const Plan& plan, const Workflow& workflow,
                                  const EngineRules& rules, const std::vector<TaskChoices>& choices) {
  const auto rule = rules.offload_when_shared.find(task);
  if (rule == rules.offload_when_shared.end()) return std::nullopt;
  const auto devices = [&](std::size_t of) { return plan.tasks.at(workflow.tasks[of].name).devices(); };
  const std::optional<bool> asked =
      asked_offload(rule->second, devices(rules.generation) == devices(rules.training));
  const std::vector<Execution>& executions = choices_for(choices, task).executions;
  const bool can = asked && std::any_of(executions.begin(), executions.end(), [&](const Execution& execution) {
                     return execution.offload_weights == *asked;
                   });
  return can ? asked : std::nullopt;
}

std::vector<std::string> broken_engine_rules(const Plan& plan, const Workflow& workflow,
                                             const EngineRules& rules, const std::vector<TaskChoices>& choices,
                                             const std::vector<std::size_t>& except) {
  std::vector<std::string> broken;
  const auto named = [&](std::size_t task) { return workflow.tasks[task].name; };
  const auto planned = [&](std::size_t task) -> const TaskPlan& { return plan.tasks.at(named(task)); };
  const auto is_excepted = [&](std::size_t task) {
    return std::find(except.begin(), except.end(), task) != except.end();
  };
  for (const auto& [task, other] : rules.same_layout) {
    if (!is_excepted(task) && !is_excepted(other) && !have_same_layout(planned(task), planned(other)))
      broken.push_back("different layouts of " + named(task) + " and " + named(other) +
                       ", which one engine computes");
  }
  for (const EngineRules::Common& common : rules.common_options) {
    for (const std::string& option : common.options) {
      const TaskPlan& first = planned(common.tasks.front());
      const auto other = std::find_if(common.tasks.begin(), common.tasks.end(), [&](std::size_t task) {
        return option_of(planned(task), option) != option_of(first, option);
      });
      if (other == common.tasks.end() || std::any_of(common.tasks.begin(), common.tasks.end(), is_excepted))
        continue;
      broken.push_back("different values of " + option + " for " + named(common.tasks.front()) + " and " +
                       named(*other) + ", for which there is one option");
    }
  }
  for (const auto& [task, rule] : rules.offload_when_shared) {
    const std::optional<bool> asked = asked_offload(task, plan, workflow, rules, choices);
    if (!asked || is_excepted(task) || planned(task).execution.offload_weights == *asked) continue;
    broken.push_back("weights of " + named(task) +
                     (*asked ? " that stay on devices shared by generation and training"
                             : " that leave devices which generation and training do not share"));
  }
  return broken;
}

}  // namespace sextant::inline planner
