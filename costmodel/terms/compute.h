// Computation (HetRL B.2 "Computation").
//
//   C_comp(t,i,j,k) = p * nm * mbs * nl_j * C_layer / (comp_d * TP_j),   C_comp(t,i,j) = max over k
//
// p = 1 for a forward pass, 3 for forward and backward. For generation seq_out is 0: the prefill.
// The vocabulary head adds its FLOP on the last stage: over the response tokens' sequence for inference and
// training, for the last position of the prompt in prefill. Embedding look-ups are no arithmetic.
#pragma once

#include "costmodel/problem.h"

namespace sextant::terms {

// Tokens of one sequence that pass through the layers at once.
template <typename T>
[[nodiscard]] double tokens_at_once(const StageOfTask<T>& s) {
  return s.task.kind() == TaskKind::generation ? s.task.prompt_tokens : s.task.sequence_tokens();
}

// p: passes over the layers, counted in forward passes.
template <typename T>
[[nodiscard]] T passes(const StageOfTask<T>& s) {
  if (!s.is_training()) return T(1.0);
  if (!s.task.plan->recompute) return T(3.0);
  return 3.0 + s.problem.coefficient(CoefficientId::recompute_flop_weight);
}

[[nodiscard]] inline CoefficientId efficiency_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::generation:
      return CoefficientId::prefill_efficiency;
    case TaskKind::inference:
      return CoefficientId::inference_efficiency;
    case TaskKind::training:
      return CoefficientId::training_efficiency;
  }
  SEXTANT_CHECK(false);
  return CoefficientId::inference_efficiency;
}

template <typename T>
[[nodiscard]] T compute_s(const StageOfTask<T>& s) {
  const double tokens = tokens_at_once(s);
  const LayerFlop layer = s.model().layer_flop(tokens);
  const double head_tokens = s.task.kind() == TaskKind::generation ? 1.0 : tokens;
  const double head = s.is_last() ? s.model().head_flop(head_tokens) : 0.0;
  const double sequences = s.work().micro_batches * s.work().micro_batch_sequences;
  const T head_passes(s.is_training() ? 3.0 : 1.0);
  const T layer_passes = passes(s);
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    const T layer_flop = layer.projections + layer.mlp +
                         s.problem.coefficient(CoefficientId::attention_weight, d) * layer.attention;
    const T flop = sequences * (layer_passes * s.layers() * layer_flop + head_passes * head);
    const T rate = s.problem.coefficient(efficiency_of(s.task.kind()), d) * s.problem.hardware.flop_per_s(d);
    return T(flop / (rate * s.tensor_parallel()));
  });
}

// Element-wise passes (normalisation, rotary positions, softmax, SwiGLU, residuals) over the activations of
// one layer and one sequence, in elements: what is not arithmetic but memory traffic. Split over the
// tensor-parallel group where the tensors are.
[[nodiscard]] inline double activation_elements(const Model& model, double tokens, double tensor_parallel) {
  const double whole = 8.0 * model.hidden;
  const double split = 4.0 * model.intermediate + 4.0 * (model.heads + 2.0 * model.kv_heads) * model.head_dim +
                       3.0 * tokens * model.heads;
  return tokens * (whole + split / tensor_parallel);
}

// Ours: neutral at zero.
template <typename T>
[[nodiscard]] T activation_traffic_s(const StageOfTask<T>& s) {
  const double tokens = tokens_at_once(s);
  const double bytes = s.work().sequences * s.layers() * s.task.element_bytes *
                       activation_elements(s.model(), tokens, s.tensor_parallel());
  const T passed = passes(s);
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(s.problem.coefficient(CoefficientId::activation_traffic_weight, d) * passed * bytes /
             s.problem.hardware.memory_bytes_per_s(d));
  });
}

}  // namespace sextant::terms
