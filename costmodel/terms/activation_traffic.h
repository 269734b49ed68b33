// Element-wise passes over activations (activation_traffic_weight): memory traffic, no arithmetic to speak of.
// Not in the appendix, neutral at zero.
#pragma once

#include "sextant/execution.h"
#include "sextant/model.h"

namespace sextant::terms {

// Element-wise passes (normalisation, rotary positions, SwiGLU, residuals) over the activations of one layer
// and one token, in elements: what is not arithmetic but memory traffic. Split over the tensor-parallel group
// where the tensors are; with sequence parallelism they all are. Experts also take their tokens in a copy each,
// and give them back to be added: each copy is written and read on both ways, unless it comes sorted. Products
// of experts with the activation inside leave only its result to be written.
[[nodiscard]] inline double activation_elements(const Model& model, double tensor_parallel,
                                                const Execution& execution) {
  double copies = 0, inner = 4.0 * model.active_width();
  if (model.experts) {
    copies = (execution.fused_dispatch ? 2.0 : 4.0) * model.experts->active_per_token * model.hidden;
    if (execution.fused_experts) inner -= 3.0 * model.experts->active_per_token * model.experts->intermediate;
  }
  const double whole = 8.0 * model.hidden + copies;
  const double split = inner + 4.0 * (model.heads + 2.0 * model.kv_heads) * model.head_dim;
  return execution.sequence_parallel ? (whole + split) / tensor_parallel : whole + split / tensor_parallel;
}

}  // namespace sextant::terms
