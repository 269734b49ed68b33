// Priors for RL iterations from the fits of their parts: an iteration is generation by a serving engine and
// training by a trainer, and both are measured alone far more often than together.
//
// The engine's kernels are those of vLLM, which the frameworks with public iterations use; the trainer's those
// that the frameworks of public training steps have in common. What an RL framework adds on the host (steps,
// sequences, calls, weights) is not among them.
#pragma once

#include "lab/claims/claims.h"
#include "sextant/coefficients.h"

namespace sextant::inline lab {

// Returns the values of a fit to serving points (those of vLLM) and of one to training steps (those for all
// frameworks) as priors: the standard error is that of the fit and, in addition, 0.15 of the logarithm for other
// releases of the same kernels (0.5 for a layer's launches, which are the host's). Linear ones get at least half
// of the table's deviation.
[[nodiscard]] Coefficients priors_from_parts(const Coefficients& engines, const Coefficients& trainers);

// Returns the values of two fits, to serving points and to training steps, with the deviations that they have in
// an RL framework, which runs other releases of the same kernels. Their runs have no RL iteration among them.
// The fits are made once for a context.
[[nodiscard]] const Coefficients& priors_of_iterations(const ClaimContext& context);

}  // namespace sextant::inline lab
