// Every plan of a small space: the answer that all other planners are tested against.
//
// Whole plans are all combinations of task layouts. Layouts of a task that differ only in micro-batch size or
// recomputation are thinned first to those that no other beats in both time and memory, which cannot lose
// the optimum: an iteration is no faster when a task is slower, and needs no less memory when a task needs
// more. Each combination is checked for memory and costed with the closed form.
#pragma once

#include "sextant/planner.h"

namespace sextant {

// Deterministic: among equally fast plans the first in the order of the space. When cancelled, the best so far;
// budget, seed and threads do not matter.
[[nodiscard]] PlanResult plan_exhaustively(const PlanRequest& request);

// The `most` fastest feasible plans, best first; for measuring the neighbours of the best. Empty when nothing
// fits or the space is too large.
[[nodiscard]] std::vector<PlanResult> rank_exhaustively(const PlanRequest& request, std::size_t maximum);

}  // namespace sextant
