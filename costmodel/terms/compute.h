// Computation (HetRL B.2 "Computation").
//
//   C_comp(t,i,j,k) = p * nm * mbs * nl_j * C_layer / (comp_d * TP_j),   C_comp(t,i,j) = max over k
//
// p = 1 for a forward pass, 3 for forward and backward. For generation seq_out is 0: the prefill.
// The vocabulary head adds its FLOP on the last stage: over the response tokens' sequence for inference and
// training, for the last position of the prompt in prefill. Embedding look-ups are no arithmetic.
//
// Ours, neutral by default: attention and experts cost more a FLOP than a projection (attention_weight,
// expert_flop_weight); a GEMM also moves its operands (gemm_traffic_weight), which is what makes small ones
// inefficient: with both, efficiency saturates with the rows, columns and depth of the product; element-wise
// passes move activations (activation_traffic_weight), attention that is not fused its matrix of scores
// (score_traffic_weight), loss and log-probabilities the logits (logit_traffic_weight); arithmetic in 8 and 4
// bits reaches less of its rate (fp8_efficiency, fp4_efficiency). Low-rank adapters need no gradients of
// frozen weights. Fused attention skips the half of the scores that the causal mask hides; attention and head
// have 16-bit operands whatever the format of the products, unless a plan says otherwise.
#pragma once

#include "costmodel/problem.h"

namespace sextant::terms {

// Sequences whose layers are passed at once by this task.
template <typename T>
[[nodiscard]] double layer_sequences(const StageOfTask<T>& s) {
  return s.is_generation() ? s.work().prefill_sequences : s.work().sequences;
}

// Tokens of one sequence that pass through the layers.
template <typename T>
[[nodiscard]] double tokens_at_once(const StageOfTask<T>& s) {
  return s.is_generation() ? s.task.prompt_tokens : s.task.sequence_tokens();
}

// Length that attention sees.
template <typename T>
[[nodiscard]] double attention_tokens(const StageOfTask<T>& s) {
  return s.is_generation() ? s.task.prompt_attention_tokens : s.task.attention_tokens;
}

// Times that a stage is entered: micro-batches, or chunks of prompts.
template <typename T>
[[nodiscard]] double stage_passes(const StageOfTask<T>& s) {
  return s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
}

// p: passes over the layers' projections, counted in forward passes. Frozen weights (LoRA) have no gradients.
template <typename T>
[[nodiscard]] T passes(const StageOfTask<T>& s) {
  if (!s.is_training()) return T(1.0);
  const double forward_backward = s.execution().lora_rank > 0 ? 2.0 : 3.0;
  if (s.task.plan->recompute != Recompute::full) return T(forward_backward);
  return forward_backward + s.problem.coefficient(CoefficientId::recompute_flop_weight);
}

// The same for attention, which selective recomputation repeats too, and which has no weights to freeze.
template <typename T>
[[nodiscard]] T attention_passes(const StageOfTask<T>& s) {
  if (!s.is_training()) return T(1.0);
  if (s.task.plan->recompute == Recompute::none) return T(3.0);
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

// FLOP of all sequences of one replica in one forward pass over this stage, without attention's.
struct ForwardFlop {
  double dense = 0;  // projections and MLP outside experts
  double experts = 0;
  double head = 0;
};

template <typename T>
[[nodiscard]] ForwardFlop forward_flop(const StageOfTask<T>& s) {
  const double tokens = tokens_at_once(s), sequences = layer_sequences(s);
  const Model& model = s.model();
  const LayerFlop layer = model.layer_flop(tokens);
  ForwardFlop flop;
  if (model.experts) {
    flop.experts = sequences * s.layers() * 2 * tokens * model.layer_expert_parameters() *
                   model.experts->active_per_token / model.experts->count;
  }
  flop.dense = sequences * s.layers() * (layer.projections + layer.mlp) - flop.experts;
  if (s.is_last()) {
    flop.head = (s.is_generation() ? s.work().sequences : sequences) *
                model.head_flop(s.is_generation() ? 1.0 : tokens);
  }
  return flop;
}

// FLOP of attention that are computed.
template <typename T>
[[nodiscard]] double computed_attention_flop(const StageOfTask<T>& s) {
  const double tokens = attention_tokens(s);
  const double whole = layer_sequences(s) * s.layers() * s.model().layer_flop(tokens).attention;
  if (!s.execution().fused_attention) return whole;
  return whole * s.model().attended_tokens(0.5 * tokens) / s.model().attended_tokens(tokens);
}

// Of the operands of attention and head: those of the products, but no narrower than the workflow's.
template <typename T>
[[nodiscard]] Precision plain_precision(const StageOfTask<T>& s) {
  const Precision workflow = s.problem.workflow.precision;
  return bytes_per_element(s.task.precision) > bytes_per_element(workflow) ? s.task.precision : workflow;
}

// What 8- and 4-bit arithmetic reaches of its rate, relative to 16-bit's share.
template <typename T>
[[nodiscard]] T narrow_share(const Problem<T>& problem, DeviceId d, Precision precision) {
  if (precision == Precision::fp8) return problem.coefficient(CoefficientId::fp8_efficiency, d);
  if (precision == Precision::fp4) return problem.coefficient(CoefficientId::fp4_efficiency, d);
  return T(1.0);
}

// FLOP/s that GEMMs of this precision reach on one device in this task.
template <typename T>
[[nodiscard]] T gemm_flop_per_s(const StageOfTask<T>& s, DeviceId d, Precision precision) {
  return s.problem.coefficient(efficiency_of(s.task.kind()), d) * narrow_share(s.problem, d, precision) *
         s.problem.hardware.flop_per_s(d, precision);
}

// Cost of a FLOP of attention in this precision relative to one of a projection. On Hopper FlashAttention 3 is
// 1.5 to 2 times as fast forward as 2, and 1.5 to 1.75 times backward (Shah et al. 2024, 4.1). Ours: what a
// rate has beyond Hopper's in 16 bits (FLOP/s, datasheet), of a later device or of 8 bits, is in instructions
// that kernels written for older devices do not use.
template <typename T>
[[nodiscard]] T attention_cost(const StageOfTask<T>& s, DeviceId d, Precision precision) {
  constexpr double kHopper = 9.89e14;
  const T& weight = s.problem.coefficient(CoefficientId::attention_weight, d);
  if (!s.execution().portable_attention) return weight;
  const T& rate = s.problem.hardware.flop_per_s(d, precision);
  const T cost = weight * s.problem.coefficient(CoefficientId::portable_attention_weight);
  return rate < T(kHopper) ? cost : T(cost * rate / kHopper);
}

template <typename T>
[[nodiscard]] T compute_s(const StageOfTask<T>& s) {
  const ForwardFlop flop = forward_flop(s);
  const double attention = computed_attention_flop(s);
  const Precision plain = plain_precision(s), seen_in = s.execution().attention_precision.value_or(plain);
  const T layer_passes = passes(s), seen = attention_passes(s);
  const double head_passes = s.is_training() ? 3.0 : 1.0;
  return max_over_devices(s, [&](DeviceId d) {
    T all = layer_passes * flop.dense / gemm_flop_per_s(s, d, s.task.precision) +
            seen * attention_cost(s, d, seen_in) * attention / gemm_flop_per_s(s, d, seen_in) +
            head_passes * flop.head / gemm_flop_per_s(s, d, plain);
    if (flop.experts > 0) {
      all += layer_passes * s.problem.coefficient(CoefficientId::expert_flop_weight, d) * flop.experts /
             gemm_flop_per_s(s, d, s.task.expert_precision);
    }
    return T(all / s.width());
  });
}

// Width of the MLP that one token passes through.
[[nodiscard]] inline double active_width(const Model& model) {
  if (!model.experts) return model.intermediate;
  return static_cast<double>(model.experts->active_per_token) * model.experts->intermediate +
         model.experts->shared_intermediate;
}

// Operands and results of the GEMMs of one forward pass: each pass reads the stage's weights once and moves
// its rows in and out of every product. In bytes, of one device.
template <typename T>
[[nodiscard]] double gemm_traffic_bytes(const StageOfTask<T>& s) {
  const Model& model = s.model();
  const double tp = s.tensor_parallel(), tokens = layer_sequences(s) * tokens_at_once(s) / s.context_parallel();
  const double rows_at_once = tokens / stage_passes(s);
  const double query = static_cast<double>(model.heads) * model.head_dim;
  const double key = static_cast<double>(model.kv_heads) * model.head_dim;
  const double inner = active_width(model);
  // In and out of query-key-value, output, up (and gate), down.
  const double moved = 4.0 * model.hidden + (2 * query + 2 * key + (model.gated_mlp ? 3.0 : 2.0) * inner) / tp;
  const double dense = model.layer_parameters() - model.layer_expert_parameters();
  double weights = s.task.weight_bytes * dense / tp;
  if (model.experts) {
    weights += s.task.expert_weight_bytes * model.layer_expert_parameters() *
               expert_share_read(s.task, tp, rows_at_once);
  }
  return s.layers() * (weights * stage_passes(s) + s.task.element_bytes * moved * tokens);
}

// Element-wise passes (normalisation, rotary positions, SwiGLU, residuals) over the activations of one layer
// and one token, in elements: what is not arithmetic but memory traffic. Split over the tensor-parallel group
// where the tensors are; with sequence parallelism they all are. Experts also take their tokens in a copy each,
// and give them back to be added: each copy is written and read on both ways, unless it comes sorted. Products
// of experts with the activation inside leave only its result to be written.
[[nodiscard]] inline double activation_elements(const Model& model, double tensor_parallel,
                                                const Execution& execution) {
  double copies = 0, inner = 4.0 * active_width(model);
  if (model.experts) {
    copies = (execution.fused_dispatch ? 2.0 : 4.0) * model.experts->active_per_token * model.hidden;
    if (execution.fused_experts) inner -= 3.0 * model.experts->active_per_token * model.experts->intermediate;
  }
  const double whole = 8.0 * model.hidden + copies;
  const double split = inner + 4.0 * (model.heads + 2.0 * model.kv_heads) * model.head_dim;
  return execution.sequence_parallel ? (whole + split) / tensor_parallel : whole + split / tensor_parallel;
}

// All traffic of all passes.
template <typename T>
[[nodiscard]] T traffic_s(const StageOfTask<T>& s) {
  const double tokens = layer_sequences(s) * tokens_at_once(s) / s.context_parallel();
  const double tp = s.tensor_parallel(), bytes = s.task.element_bytes;
  const double activations = tokens * s.layers() * bytes * activation_elements(s.model(), tp, s.execution());
  const double attended = s.model().attended_tokens(attention_tokens(s));
  const double scores =
      s.execution().fused_attention ? 0.0 : tokens * s.layers() * bytes * attended * s.model().heads / tp;
  const bool all_logits = s.is_last() && !s.is_generation() && !s.model().value_head;
  const double logits = all_logits ? tokens * bytes * s.model().vocabulary / tp : 0.0;
  const double gemms = gemm_traffic_bytes(s);
  const T passed = passes(s), seen = attention_passes(s);
  const double head_passes = s.is_training() ? 3.0 : 1.0;
  return max_over_devices(s, [&](DeviceId d) {
    const T moved = passed * (s.problem.coefficient(CoefficientId::activation_traffic_weight, d) * activations +
                              s.problem.coefficient(CoefficientId::gemm_traffic_weight, d) * gemms) +
                    seen * s.problem.coefficient(CoefficientId::score_traffic_weight, d) * scores +
                    head_passes * s.problem.coefficient(CoefficientId::logit_traffic_weight, d) * logits;
    return T(moved / s.problem.hardware.memory_bytes_per_s(d));
  });
}

}  // namespace sextant::terms
