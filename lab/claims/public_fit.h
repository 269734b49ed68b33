// The coefficients that ship: three fits, of public RL iterations, training steps and generation, that share
// nothing, each cut into one document a family of frameworks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/claims/claims.h"
#include "sextant/coefficients.h"

namespace sextant {

// What each fit sees, by kind: all of data/public but vTrain's rows of one node, which its simulator composed
// from some thirty measured layer times (data/public/vtrain).
[[nodiscard]] std::map<std::string, Runs> public_runs(const ClaimContext& context);

// By family; "any" holds the values for all frameworks of RL iterations alone. held_out: by family of claims,
// what the model leaves on runs that a fit did not see; a document takes that of the claims that are about its
// frameworks.
[[nodiscard]] std::map<std::string, Coefficients> fit_public_runs(
    const ClaimContext& context, const std::map<std::string, HeldOutSummary>& held_out);

}  // namespace sextant
