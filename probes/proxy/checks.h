// What the proxy cannot execute, refused before anything runs.
#pragma once

#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant::proxy {

// Error(bad_input) with one sentence unless the proxy can run the workflow in some plan.
void check_workflow(const Workflow& workflow);

// The same unless it can run the plan on `ranks` ranks. Workflow and plan have passed check_workflow and
// check_plan.
void check_runnable(const Workflow& workflow, const Plan& plan, int ranks);

}  // namespace sextant::proxy
