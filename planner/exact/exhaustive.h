// Every plan of a small space: the reference for tests of all other planners.
//
// Whole plans are all combinations of task layouts. Of a task's layouts that differ only in micro-batch size or
// recomputation, those that another one beats in both time and memory are removed first. This cannot lose the
// optimum, because an iteration is no faster if a task is slower, and needs no less memory if a task needs
// more. Each combination is checked for memory and costed with the closed form.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Deterministic: among equally fast plans the first in the order of the space. Returns the best so far if
// cancelled; budget, seed and threads have no effect.
[[nodiscard]] PlanResult plan_exhaustively(const PlanRequest& request);

// The `maximum` fastest feasible plans, best first; for measuring the neighbours of the best. Empty if no plan
// fits or the space is too large.
[[nodiscard]] std::vector<PlanResult> rank_exhaustively(const PlanRequest& request, std::size_t maximum);

}  // namespace sextant::inline planner
