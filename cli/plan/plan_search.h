// The search of sextant plan: divides its budget over the requested searches.
#pragma once

#include "cli/plan/plan_question.h"
#include "cli/plan/plan_within_risk.h"
#include "cli/probe/rank_group.h"

namespace sextant::cli {

// Searches until the planner ends or Ctrl-C: one search, several to respect the memory risk, or those that a
// risk goal or a run of several parts needs.
[[nodiscard]] PlanOutput search_as_asked(const PlanOptions& options, const PlanInputs& asked, RankGroup& ranks);

}  // namespace sextant::cli
