// Element-wise passes over activations (activation_traffic_weight): memory traffic, no arithmetic to speak of.
// Not in the appendix, neutral at zero.
#pragma once

#include "sextant/execution.h"
#include "sextant/model.h"

namespace sextant::terms {

// Element-wise passes (normalisation, rotary positions, SwiGLU, residuals) over the activations of one layer
// and one token, in elements: memory traffic with little arithmetic. Split over the tensor-parallel group as
// the tensors are; with sequence parallelism all of them are. Experts also take a copy of each of their tokens,
// and return it to be added: each copy is written and read both ways, unless it arrives sorted. Expert products
// with a fused activation write only its result.
[[nodiscard]] inline double activation_elements(const Model& model, double tensor_parallel,
                                                const Execution& execution) {
  double copies = 0, inner = 4.0 * model.active_width();
  if (model.experts) {
    copies = (execution.fused_dispatch ? 2.0 : 4.0) * model.experts->active_per_token * model.hidden;
    if (execution.fused_experts)
      inner -= 3.0 * model.mlp_share() * model.experts->active_per_token * model.experts->intermediate;
  }
  const double whole = 4.0 * model.parts_per_layer() * model.hidden + model.mlp_share() * copies;
  const double attended = (model.heads + model.kv_heads) * model.head_dim +
                          static_cast<double>(model.kv_heads) * model.value_head_dim();
  double mixed = model.full_attention_share() * attended;
  if (model.linear_attention)
    mixed += model.linear_attention_share() *
             (model.linear_attention->mixed_width() + model.linear_attention->value_width());
  const double split = inner + 4.0 * mixed;
  return execution.sequence_parallel ? (whole + split) / tensor_parallel : whole + split / tensor_parallel;
}

}  // namespace sextant::terms
