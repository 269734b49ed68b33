// The last look at what a planner answers, before anyone relies on it: every plan is verified by code of its
// own, and carries a bound for any plan of any planner.
#pragma once

#include "planner/verify/verify.h"
#include "sextant/planner.h"

namespace sextant {

// A planner's plan that breaks a rule is a bug of the planner or of the verifier, and no one's input: throws
// Error(machine) with every violation.
void require_feasible(const Verdict& verdict);

// Fills in `bound_of_all_s` and, where all devices have prices, `bound_of_all_usd` (exact/bound.h). Throws Error(machine) for
// a plan that breaks a rule, or that takes less than any plan can: then the bound or the plan is wrong.
void check_answer(const PlanRequest& request, PlanResult& result);

}  // namespace sextant
