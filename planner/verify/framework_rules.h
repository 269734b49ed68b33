// Rules about what a framework can run.
#pragma once

#include <vector>

#include "planner/verify/violation.h"
#include "sextant/plan.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant {

// `choices`: by task, or empty. Stages have the layers and replicas the shares of the batch that the choices of
// their task allow. Tasks of a pair of `same_layout` have the same replicas of the same stages on the same
// devices, and split contexts and experts in the same way.
[[nodiscard]] std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                                          const std::vector<TaskChoices>& choices,
                                                          const TaskPairs& same_layout = {});

}  // namespace sextant
