// How many kernels a layer is: what its fixed time is for.
//
// A dense layer in 16 bits has 11: two norms, the query-key-value product, rotation, cache write, attention and
// the merge of its parts, output product, up and gate product, activation, down product. Routed experts put 12
// in place of or beside the MLP's (router, top-k, counting, sorting, gathering, two grouped products,
// activation, weighting, summing), latent attention 6 (two low-rank pairs with their norms, two absorbed
// products), operands of 8 or 4 bits 2 casts that are not fused into a norm. Engines that run a model as it is
// written launch every cast, and each expert on its own: most of them find no token and are a look-up only.
#pragma once

#include "costmodel/work.h"

namespace sextant::terms {

// Of a layer in prefill or decoding, relative to a dense one in 16 bits; mean over the model's layers.
[[nodiscard]] inline double layer_kernels(const TaskWork& task) {
  constexpr double kDense = 11, kExperts = 12, kLatent = 6, kCasts = 2, kUnfusedCasts = 13, kLoopedExpert = 1.5;
  const bool casts = task.weight_bytes < 2 || task.expert_weight_bytes < 2;
  const bool unfused = task.execution().unfused;
  double count = kDense;
  if (casts) count += unfused ? kUnfusedCasts : kCasts;
  if (task.model->latent_attention) count += kLatent;
  if (const auto& experts = task.model->experts) {
    const double share = 1.0 - static_cast<double>(experts->dense_layers) / task.model->layers;
    const double looped = unfused ? kLoopedExpert * experts->count * (casts ? 2.0 : 1.0) : 0.0;
    count += share * (kExperts + looped);
  }
  return count / kDense;
}

}  // namespace sextant::terms
