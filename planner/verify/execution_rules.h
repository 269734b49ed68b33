// Rules about how a task is executed: values in their ranges, experts, chunks, offloading, number formats.
#pragma once

#include <vector>

#include "planner/verify/planned_task.h"
#include "planner/verify/violation.h"

namespace sextant::inline planner {

// Values outside the range of documents: degrees below one, invalid shares, sizes below zero.
[[nodiscard]] std::vector<Violation> value_violations(const PlannedTask& task);

// Expert parallelism fits the experts and the devices that hold a stage's layers; no stage has more chunks than
// layers; offloading has a link to the host; devices have a rate for the required arithmetic. The layout must
// be valid (layout_rules.h).
[[nodiscard]] std::vector<Violation> execution_violations(const PlannedTask& task);

}  // namespace sextant::inline planner
