// Rules about what a framework can run.
#pragma once

#include <vector>

#include "planner/verify/violation.h"
#include "sextant/plan.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// `choices`: by task, or empty. Stages have the layers and replicas the shares of the batch that the choices of
// their task allow, and devices ascend as ranks are numbered. Tasks of a pair of EngineRules::same_layout have the
// same replicas of the same stages on the same devices, and split contexts and experts in the same way; common
// options have one value, and weights are offloaded as the rules ask.
[[nodiscard]] std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                                          const std::vector<TaskChoices>& choices,
                                                          const EngineRules& rules = {});

// True if the devices ascend along the ranks: replica by replica, or stage by stage through all replicas.
[[nodiscard]] bool has_rank_order(const TaskPlan& task, RankOrder order);

}  // namespace sextant::inline planner
