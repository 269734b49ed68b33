// Operands and results of matrix products (gemm_traffic_weight), which make small products inefficient. With it
// efficiency saturates with the rows, columns and depth of the product. Not in the appendix, neutral at zero.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/passes.h"

namespace sextant::terms {

// Bytes of operands and results of the GEMMs of one forward pass on one device: each pass reads the stage's
// weights once and moves its rows in and out of every product.
template <typename T>
[[nodiscard]] double gemm_traffic_bytes(const StageOfTask<T>& s) {
  const Model& model = s.model();
  const double tp = s.tensor_parallel(), tokens = layer_tokens(s);
  const double rows_at_once = tokens / stage_passes(s);
  const double inner = model.active_width();
  // Inputs and outputs of query-key-value, output, up (and gate), down.
  const double moved = 2.0 * model.parts_per_layer() * model.hidden +
                       (model.attention_elements() + (model.gated_mlp ? 3.0 : 2.0) * inner) / tp;
  const double dense = model.layer_parameters() - model.layer_expert_parameters();
  double weights = s.task.moved_weight_bytes() * dense / tp;
  if (model.experts) {
    weights += s.task.moved_expert_weight_bytes() * model.layer_expert_parameters() *
               expert_share_read(s.task, tp, rows_at_once);
  }
  return s.layers() * (weights * stage_passes(s) + s.task.element_bytes * moved * tokens);
}

}  // namespace sextant::terms
