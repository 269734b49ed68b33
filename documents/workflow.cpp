#include "sextant/workflow.h"

#include <algorithm>

#include "sextant/error.h"

namespace sextant {
namespace {

const Task* find_actor_task(const Workflow& workflow, TaskKind kind) {
  const auto found = std::find_if(workflow.tasks.begin(), workflow.tasks.end(), [kind](const Task& task) {
    return task.kind == kind && task.model == "actor";
  });
  return found == workflow.tasks.end() ? nullptr : &*found;
}

const Task* find_task(const Workflow& workflow, const std::string& name) {
  const auto found = std::find_if(workflow.tasks.begin(), workflow.tasks.end(),
                                  [&name](const Task& task) { return task.name == name; });
  return found == workflow.tasks.end() ? nullptr : &*found;
}

}  // namespace

const Task& Workflow::task(const std::string& name_of_task) const {
  const Task* found = find_task(*this, name_of_task);
  SEXTANT_CHECK(found != nullptr);
  return *found;
}

bool Workflow::has_task(const std::string& name_of_task) const {
  return find_task(*this, name_of_task) != nullptr;
}

const Task& Workflow::actor_generation() const {
  const Task* found = find_actor_task(*this, TaskKind::generation);
  SEXTANT_CHECK(found != nullptr);
  return *found;
}

const Task& Workflow::actor_training() const {
  const Task* found = find_actor_task(*this, TaskKind::training);
  SEXTANT_CHECK(found != nullptr);
  return *found;
}

bool Workflow::has_weight_sync() const {
  return find_actor_task(*this, TaskKind::generation) != nullptr &&
         find_actor_task(*this, TaskKind::training) != nullptr;
}

namespace {

struct NamedModel {
  const char* task;
  const char* model;
};

// Generation, inference tasks that need its responses, and training tasks that need the results of all of
// these.
std::vector<Task> standard_graph(const std::vector<NamedModel>& inference,
                                 const std::vector<NamedModel>& training) {
  std::vector<Task> tasks{{task_names::kActorGeneration, TaskKind::generation, "actor", {}}};
  std::vector<std::string> experience;
  for (const NamedModel& task : inference) {
    tasks.push_back({task.task, TaskKind::inference, task.model, {task_names::kActorGeneration}});
    experience.emplace_back(task.task);
  }
  if (experience.empty()) experience.emplace_back(task_names::kActorGeneration);
  for (const NamedModel& task : training)
    tasks.push_back({task.task, TaskKind::training, task.model, experience});
  return tasks;
}

std::vector<NamedModel> inference_of(bool with_reward_model, const GraphOptions& options) {
  using namespace task_names;
  std::vector<NamedModel> tasks;
  if (with_reward_model) tasks.push_back({kRewardInference, "reward"});
  if (options.has_old_log_prob) tasks.push_back({kOldLogProb, "actor"});
  if (options.has_reference) tasks.push_back({kReferenceInference, "reference"});
  return tasks;
}

}  // namespace

std::vector<Task> ppo_tasks(const GraphOptions& options, bool with_reward_model) {
  using namespace task_names;
  std::vector<NamedModel> inference = inference_of(with_reward_model, options);
  inference.push_back({kCriticInference, "critic"});
  return standard_graph(inference, {{kActorTraining, "actor"}, {kCriticTraining, "critic"}});
}

std::vector<Task> grpo_tasks(bool with_reward_model, const GraphOptions& options) {
  return standard_graph(inference_of(with_reward_model, options), {{task_names::kActorTraining, "actor"}});
}

GraphOptions graph_options_of(const Workflow& workflow) {
  return {workflow.has_task(task_names::kReferenceInference), workflow.has_task(task_names::kOldLogProb)};
}

}  // namespace sextant
