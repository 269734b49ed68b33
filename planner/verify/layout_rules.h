// Rules about which devices hold which layers of a task.
#pragma once

#include <vector>

#include "planner/verify/planned_task.h"
#include "planner/verify/violation.h"

namespace sextant::inline planner {

// C2 for whole tasks: the plan has every task of the workflow and no other.
[[nodiscard]] std::vector<Violation> task_violations(const Plan& plan, const Workflow& workflow);

// C1 and C2 for the devices of a task, layers of each replica, and degrees that the model's shape allows: a
// device has a whole number of query heads, whole or repeated key-value heads, and a whole number of columns of
// the MLP or of a routed expert. Values must be valid (execution_rules.h).
[[nodiscard]] std::vector<Violation> layout_violations(const PlannedTask& task);

}  // namespace sextant::inline planner
