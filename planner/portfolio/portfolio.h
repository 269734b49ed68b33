// Several planners share one budget, and the best of their plans is the answer: what `sextant plan` runs by
// default.
//
// First all tasks on all devices with the best degrees (verl-colocated), which is what most people run; where
// generation may run beside the rest, splits into devices that generate and others (streamrl); then a proof
// over whole units of small clusters (exact); then generation and training apart, each planned for itself
// (two-phase); then sha-ea with what is left. A planner is left out where it has no use for the request.
//
// On devices that are all alike, a plan with uneven shares or stages is the answer only where it is faster by
// more than a fiftieth than the best even one: people who read it would ask why.
#pragma once

#include "sextant/planner.h"

namespace sextant {

inline constexpr double kPortfolioBudget_s = 2;  // where none is asked for

// Without a budget 2 s. With ranks (PlanRequest::ranks) the first rank alone asks the other planners, and
// sha-ea continues from their plans on all ranks. Counted in evaluations, the answer is the same on any number
// of ranks.
[[nodiscard]] PlanResult plan_by_portfolio(const PlanRequest& request);

// Whether replicas of each task have equal shares, to one sequence, and stages equal layers, to one layer.
[[nodiscard]] bool is_even(const Plan& plan, int sequences);

}  // namespace sextant
