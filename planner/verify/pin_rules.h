// Rules about pinned tasks.
#pragma once

#include <vector>

#include "planner/verify/violation.h"
#include "sextant/plan.h"
#include "sextant/search_space.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// A pinned task is planned on exactly its devices; if its layout is pinned, with these stages, sizes and shares
// of the batch in sequences.
[[nodiscard]] std::vector<Violation> pin_violations(const Plan& plan, const Workflow& workflow,
                                                    const Pins& pins);

}  // namespace sextant::inline planner
