// The last look at a plan before it is written.
#pragma once

#include "planner/verify/verify.h"

namespace sextant::cli {

// A planner's plan that breaks a rule is a bug of the planner or of the verifier, and no one's input: throws
// Error(machine), exit code 3, with every violation.
void require_verified(const Verdict& verdict);

}  // namespace sextant::cli
