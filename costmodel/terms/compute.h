// Computation (HetRL B.2 "Computation").
//
//   C_comp(t,i,j,k) = p * nm * mbs * nl_j * C_layer / (comp_d * TP_j),   C_comp(t,i,j) = max over k
//
// For generation seq_out is 0: the prefill. The vocabulary head adds its FLOP on the last stage: over the
// response tokens' sequence for inference and training, for the last position of the prompt in prefill.
// Embedding look-ups are no arithmetic.
//
// Ours, neutral by default: a FLOP of routed experts costs more than one of a projection (expert_flop_weight:
// small, uneven matrices); attention follows attention.h, rates follow gemm_rate.h. Memory traffic in addition
// to the arithmetic is in traffic.h.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/attention.h"
#include "costmodel/terms/gemm_rate.h"
#include "costmodel/terms/passes.h"

namespace sextant::terms {

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

template <typename T>
[[nodiscard]] T compute_s(const StageOfTask<T>& s) {
  const ForwardFlop flop = forward_flop(s);
  const double attention = computed_attention_flop(s);
  const Precision seen_in = attention_precision(s);
  const T layer_passes = passes(s), seen = attention_passes(s);
  return max_over_devices(s, [&](DeviceId d) {
    T all = layer_passes * flop.dense / gemm_flop_per_s(s, d, s.task.precision) +
            seen * attention_cost(s, d, seen_in) * attention / gemm_flop_per_s(s, d, seen_in) +
            head_passes(s) * flop.head / gemm_flop_per_s(s, d, plain_precision(s));
    if (flop.experts > 0) {
      all += layer_passes * s.problem.coefficient(CoefficientId::expert_flop_weight, d) * flop.experts /
             gemm_flop_per_s(s, d, s.task.expert_precision);
    }
    return T(all / s.width());
  });
}

}  // namespace sextant::terms
