// The coefficients that ship: fits of public training steps, of generation, and of RL iterations, whose priors
// come from the other two (shared_priors.h). Each is split into one document per family of frameworks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/claims/claims.h"
#include "sextant/coefficients.h"

namespace sextant::inline lab {

// Returns the runs of each fit, by kind: all of data/public except vTrain's rows of one node, which its
// simulator composed from some thirty measured layer times (data/public/vtrain).
[[nodiscard]] std::map<std::string, Runs> public_runs(const ClaimContext& context);

// Returns coefficients by family; "any" holds the values for all frameworks of RL iterations alone. held_out:
// by family of claims, the residual errors on held-out runs; a document takes that of the claims about its
// frameworks.
[[nodiscard]] std::map<std::string, Coefficients> fit_public_runs(
    const ClaimContext& context, const std::map<std::string, HeldOutSummary>& held_out);

}  // namespace sextant::inline lab
