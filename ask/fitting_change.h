// The change of options with which a plan fits that does not fit as it is.
#pragma once

#include <optional>
#include <string>

#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/predict.h"

namespace sextant::inline ask {

struct FittingChange {
  Plan plan;
  std::string sentence;  // "The plan fits with recompute full of actor_training: 210 s an iteration."
};

// Tries one option at a time: recomputation, weights that leave the devices while other tasks run, ZeRO stage 3,
// smaller micro-batches, a smaller KV cache, the optimizer on the host; then all that the plan needs together.
// A plan fits if it runs out of memory with a probability of at most kUsualRisk, as a table's "fits" means.
// Returns nullopt if these options do not help. profile: the framework whose options are tried; null: all.
[[nodiscard]] std::optional<FittingChange> change_that_fits(const PredictionQuery& asked,
                                                            const FrameworkProfile* profile);

}  // namespace sextant::inline ask
