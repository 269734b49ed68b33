// Rules about the batch of each replica.
#pragma once

#include <vector>

#include "planner/verify/planned_task.h"
#include "planner/verify/violation.h"

namespace sextant::inline planner {

// Batch shares sum to the global batch and give every replica a sequence; no micro-batch has less than
// one; a limited KV cache holds one sequence of maximum length. The layout must be valid
// (layout_rules.h).
[[nodiscard]] std::vector<Violation> batch_violations(const PlannedTask& task);

}  // namespace sextant::inline planner
