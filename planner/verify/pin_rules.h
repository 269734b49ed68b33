// Rules about tasks that were asked to stay where they are.
#pragma once

#include <vector>

#include "documents/plan.h"
#include "documents/workflow.h"
#include "planner/request/pins.h"
#include "planner/verify/violation.h"

namespace sextant {

// A pinned task is planned, and on exactly its devices; where it is pinned to a layout, with these stages,
// sizes and shares of the batch in sequences.
[[nodiscard]] std::vector<Violation> pin_violations(const Plan& plan, const Workflow& workflow,
                                                    const Pins& pins);

}  // namespace sextant
