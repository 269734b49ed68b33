// The search of sextant plan: its budget is dealt to what was asked.
#pragma once

#include "cli/plan/plan_question.h"
#include "cli/plan/plan_within_risk.h"
#include "cli/probe/rank_group.h"

namespace sextant::cli {

// Searches until the planner ends or someone presses Ctrl-C: one search, several that hold the memory's risk,
// or those that a goal of risk or a run of several parts needs.
[[nodiscard]] PlanOutput search_as_asked(const PlanOptions& options, const PlanInputs& asked, RankGroup& ranks);

}  // namespace sextant::cli
