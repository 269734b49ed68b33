// Rules about what a framework can run.
#pragma once

#include <vector>

#include "planner/verify/violation.h"
#include "sextant/plan.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant {

// `choices`: by task, or empty. Stages have the layers and replicas the shares of the batch that the choices of
// their task allow.
[[nodiscard]] std::vector<Violation> framework_violations(const Plan& plan, const Workflow& workflow,
                                                          const std::vector<TaskChoices>& choices);

}  // namespace sextant
