#include "ask/framework_habits.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "planner/search/engine_rules.h"
#include "sextant/profile_space.h"
#include "sextant/task_choices.h"

namespace sextant::inline ask {
namespace {

bool states_offload(const std::string& words) { return words.find("offload=") != std::string::npos; }

// True if the framework has one option for the offloading of the weights of both tasks.
bool has_common_offload(const FrameworkProfile& profile, const std::string& task, const std::string& other) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  return std::any_of(
      profile.common_options.begin(), profile.common_options.end(), [&](const CommonOptions& common) {
        return has(common.options, "offload_weights") && has(common.tasks, task) && has(common.tasks, other);
      });
}

// Tasks that only score have options of their own; offload= of --train decides for those whose weights the
// framework keeps or moves by the same setting.
void offload_like_training(const FrameworkProfile& profile, const Workflow& workflow, Plan& plan,
                           std::vector<std::string>& assumed) {
  const std::string training = workflow.has_task(task_names::kActorTraining) ? task_names::kActorTraining : "";
  const bool is_offloaded = !training.empty() && plan.tasks.at(training).execution.offload_weights;
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::inference) continue;
    bool& own = plan.tasks.at(task.name).execution.offload_weights;
    const bool is_common = has_common_offload(profile, training, task.name);
    if (is_common) own = is_offloaded;
    assumed.push_back("Assumed for " + task.name + ", as there is no offload in --inference: its weights " +
                      (own ? "leave the GPUs while other tasks run" : "stay on the GPUs") +
                      (is_common ? ", for which " + profile.name + " has one setting with " + training
                                 : ", as " + profile.name + " does") +
                      ".");
  }
}

// The words that a task's options come from.
const std::string& words_for(const LayoutOptions& layouts, TaskKind kind) {
  if (kind == TaskKind::generation) return layouts.rollout;
  return kind == TaskKind::training ? layouts.train : layouts.inference;
}

void offload_where_shared(const FrameworkProfile& profile, const LayoutOptions& layouts,
                          const Workflow& workflow, const ProfiledSpace& space, Plan& plan,
                          std::vector<std::string>& assumed) {
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    if (states_offload(words_for(layouts, task.kind))) continue;
    const std::optional<bool> asked = asked_offload(t, plan, workflow, space.engine_rules, space.choices);
    bool& own = plan.tasks.at(task.name).execution.offload_weights;
    if (!asked || own == *asked) continue;
    own = *asked;
    for (const Task& other : workflow.tasks) {
      if (has_common_offload(profile, task.name, other.name))
        plan.tasks.at(other.name).execution.offload_weights = own;
    }
    assumed.push_back("Assumed for " + task.name + ": its weights " +
                      (own ? "leave the GPUs while other tasks run, as " + profile.name +
                                 " does where generation and training share GPUs."
                           : "stay on the GPUs, as " + profile.name +
                                 " does where generation and training have GPUs of their own."));
  }
}

void deal_layers(const Workflow& workflow, const ProfiledSpace& space, Plan& plan) {
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    TaskPlan& of_task = plan.tasks.at(workflow.tasks[t].name);
    const StageRule rule = space.choices[t].stages;
    std::vector<int> layers;
    for (const Stage& stage : of_task.replicas.front().stages) layers.push_back(stage.layers);
    if (allows(rule, layers)) continue;
    const std::vector<std::vector<int>> splits =
        stage_layers(workflow.model_of(workflow.tasks[t]).layers, static_cast<int>(layers.size()),
                     of_task.execution.virtual_stages, rule);
    if (splits.empty()) continue;
    for (Replica& replica : of_task.replicas) {
      for (std::size_t j = 0; j < replica.stages.size(); ++j) replica.stages[j].layers = splits.front()[j];
    }
  }
}

}  // namespace

void follow_framework(const FrameworkProfile& profile, const LayoutOptions& layouts, const Workflow& workflow,
                      const Cluster& cluster, Plan& plan, std::vector<std::string>& assumed) {
  if (states_offload(layouts.train) && !states_offload(layouts.inference))
    offload_like_training(profile, workflow, plan, assumed);
  if (!why_not_offered(profile, workflow).empty()) return;
  const ProfiledSpace space = space_of(profile, workflow, cluster);
  offload_where_shared(profile, layouts, workflow, space, plan, assumed);
  deal_layers(workflow, space, plan);
}

}  // namespace sextant::inline ask
