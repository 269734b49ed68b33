// The rules of a framework for layouts and options of several tasks (EngineRules), checked on a plan.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sextant/plan.h"
#include "sextant/planner.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// True if replicas, stages, devices and the parallelism of experts and contexts are equal. Sizes of
// micro-batches, recomputation and offloading are each task's own.
[[nodiscard]] bool have_same_layout(const TaskPlan& task, const TaskPlan& other);

// The sets of tasks that are connected by these pairs, each in ascending order.
[[nodiscard]] std::vector<std::vector<std::size_t>> connected_tasks(const TaskPairs& pairs);

// Passes without gradients on the engine of the task that trains their model, with this task: they use its copy of
// the weights. The reference is another state of the model.
[[nodiscard]] TaskPairs one_copy_of(const EngineRules& rules, const Workflow& workflow);

// The pairs of one_copy_of whose weights are in one place in every plan that obeys the rules: the choices of both tasks
// offload and shard them alike, or one option decides for both, and no pin gives them other layouts.
[[nodiscard]] TaskPairs one_copy_on_devices(const PlanRequest& request);

// Whether the task must offload its weights in this plan, or must not; absent: neither, or no execution of the
// task does as asked. `choices`: by task.
[[nodiscard]] std::optional<bool> asked_offload(std::size_t task, const Plan& plan, const Workflow& workflow,
                                                const EngineRules& rules,
                                                const std::vector<TaskChoices>& choices);

// Returns what a plan has that the rules forbid, as ends of sentences: "different layouts of old_log_prob and
// actor_training, which one engine computes". Rules with one of the tasks `except` are left out.
[[nodiscard]] std::vector<std::string> broken_engine_rules(const Plan& plan, const Workflow& workflow,
                                                           const EngineRules& rules,
                                                           const std::vector<TaskChoices>& choices,
                                                           const std::vector<std::size_t>& except = {});

}  // namespace sextant::inline planner
