// What the proxy cannot execute, refused before anything runs.
#pragma once

#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant::proxy {

// Error(bad_input) with one sentence unless the proxy can run the plan on `ranks` ranks. The plan has
// passed check_plan.
void check_runnable(const Workflow& workflow, const Plan& plan, int ranks);

}  // namespace sextant::proxy
