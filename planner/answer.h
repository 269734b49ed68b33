// The final check of a planner's answer: separate code verifies every plan and adds a bound for any plan of any
// planner.
#pragma once

#include "planner/verify/verify.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// Throws Error(machine) with every violation if the plan breaks a rule. This is a bug of the planner or of the
// verifier, never an error of the input.
void require_feasible(const Verdict& verdict);

// Sets `bound_of_all_s` and, if all devices have prices, `bound_of_all_usd` (exact/bound.h). Throws
// Error(machine) if the plan breaks a rule or is below the bound: then the bound or the plan is wrong.
void check_answer(const PlanRequest& request, PlanResult& result);

}  // namespace sextant::inline planner
