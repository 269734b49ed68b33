// The search space of plans that a framework runs.
#pragma once

#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/planner.h"
#include "sextant/workflow.h"

namespace sextant {

struct ProfiledSpace {
  std::vector<TaskChoices> choices;  // by task
  DeviceRules device_rules;
  EngineRules engine_rules;
};

enum class LayoutRules { as_framework, any };

// Says which algorithm or mode of the workflow the framework does not offer, and what it offers; empty if it
// runs the workflow.
[[nodiscard]] std::string why_not_offered(const FrameworkProfile& profile, const Workflow& workflow);

// The profile's choices for every task of the workflow on this cluster. Excluded are executions that no device
// can run (no link to the host for offloading, no rate for a precision), expert parallelism of models without
// experts, and token budgets below one sequence. Below the profile's smallest token budget there are smaller
// ones, down to the longest sequence (smaller_token_budgets). The KV cache gets the profile's fractions of the
// memory of each device type. LayoutRules::any includes the layouts that the framework cannot run.
//
// Throws Error(bad_input) if the framework does not offer the workflow's algorithm or mode (unless
// LayoutRules::any), or if no execution of a task is left.
[[nodiscard]] ProfiledSpace space_of(const FrameworkProfile& profile, const Workflow& workflow,
                                     const Cluster& cluster, LayoutRules rules = LayoutRules::as_framework);

// Takes the profile's choices, device rules and weight synchronization into the request. Turns balancing off if
// the profile splits evenly, and lets the bound cover every execution. Throws like space_of.
void take_profile(const FrameworkProfile& profile, LayoutRules rules, PlanRequest& request);

// Chooses what the documents of a plan's tasks leave out (TaskPlan::unstated) as the framework does by default,
// and returns a sentence about each choice:
//   a task without `execution`: the first execution of space_of, with its recomputation, decode batch and micro-batch
//     unless the task states them; a stated micro-batch replaces the token budget of that execution
//   a compact layout without `outermost`: the framework's order of ranks
//   an execution that is neither packed nor states `padding`: the framework's padding
// Nothing is filled in if the framework's choice cannot run (can_execute).
[[nodiscard]] std::vector<std::string> fill_in_from_profile(Plan& plan, const FrameworkProfile& profile,
                                                            const Workflow& workflow, const Cluster& cluster);

// Adds the execution of `plan`, for example that of a pinned task, unless the choices already contain it.
void add_execution(std::vector<TaskChoices>& choices, const Workflow& workflow, const std::string& task,
                   const TaskPlan& plan);

}  // namespace sextant
