// Rules about tasks that were asked to stay where they are.
#pragma once

#include <vector>

#include "planner/verify/violation.h"
#include "sextant/plan.h"
#include "sextant/search_space.h"
#include "sextant/workflow.h"

namespace sextant {

// A pinned task is planned, and on exactly its devices; where it is pinned to a layout, with these stages,
// sizes and shares of the batch in sequences.
[[nodiscard]] std::vector<Violation> pin_violations(const Plan& plan, const Workflow& workflow,
                                                    const Pins& pins);

}  // namespace sextant
