// What a search may choose among when a framework runs the plan.
#pragma once

#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/planner.h"
#include "sextant/workflow.h"

namespace sextant {

struct ProfiledSpace {
  std::vector<TaskChoices> choices;  // by task
  DeviceRules device_rules;
};

enum class LayoutRules { as_framework, any };

// The profile's choices for every task of the workflow on this cluster. Left out are executions that no device
// can run (no link to the host to offload over, no rate for a precision), expert parallelism of models without
// experts, and budgets of tokens that hold no sequence. The KV cache gets the profile's parts of the memory of
// each device type. With LayoutRules::any the layouts that the framework cannot run are there too.
//
// Throws Error(bad_input) where the framework does not offer the workflow's mode (not with LayoutRules::any),
// or no execution of a task is left.
[[nodiscard]] ProfiledSpace space_of(const FrameworkProfile& profile, const Workflow& workflow,
                                     const Cluster& cluster, LayoutRules rules = LayoutRules::as_framework);

// The request's choices, shared devices and weight synchronization become the profile's; layers and sequences
// are not balanced where it deals them evenly; the bound is of every execution. Throws as space_of.
void take_profile(const FrameworkProfile& profile, LayoutRules rules, PlanRequest& request);

// One more execution that a plan names, such as that of a pinned task; none where it is there already.
void add_execution(std::vector<TaskChoices>& choices, const Workflow& workflow, const std::string& task,
                   const TaskPlan& plan);

}  // namespace sextant
