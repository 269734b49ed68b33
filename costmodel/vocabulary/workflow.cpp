#include "costmodel/vocabulary/workflow.h"

#include <algorithm>

#include "core/error.h"

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

std::vector<Task> ppo_tasks() {
  using namespace task_names;
  const std::vector<std::string> experience{kRewardInference, kReferenceInference, kCriticInference};
  return {{kActorGeneration, TaskKind::generation, "actor", {}},
          {kRewardInference, TaskKind::inference, "reward", {kActorGeneration}},
          {kReferenceInference, TaskKind::inference, "reference", {kActorGeneration}},
          {kCriticInference, TaskKind::inference, "critic", {kActorGeneration}},
          {kActorTraining, TaskKind::training, "actor", experience},
          {kCriticTraining, TaskKind::training, "critic", experience}};
}

std::vector<Task> grpo_tasks(bool with_reward_model) {
  using namespace task_names;
  std::vector<Task> tasks{{kActorGeneration, TaskKind::generation, "actor", {}}};
  std::vector<std::string> experience;
  if (with_reward_model) {
    tasks.push_back({kRewardInference, TaskKind::inference, "reward", {kActorGeneration}});
    experience.emplace_back(kRewardInference);
  }
  tasks.push_back({kReferenceInference, TaskKind::inference, "reference", {kActorGeneration}});
  experience.emplace_back(kReferenceInference);
  tasks.push_back({kActorTraining, TaskKind::training, "actor", experience});
  return tasks;
}

}  // namespace sextant
