// The search of sextant plan, which shows its progress and which Ctrl-C ends.
#pragma once

#include "ask/plan/plan_search.h"
#include "cli/plan/plan_options.h"
#include "cli/probe/rank_group.h"

namespace sextant::cli {

// Searches until the planner ends, or someone presses Ctrl-C, which mpirun passes on to all ranks. Prints the
// warning of the answer.
[[nodiscard]] PlanOutput search_aloud(const PlanOptions& options, const AskedPlan& asked, RankGroup& ranks);

}  // namespace sextant::cli
