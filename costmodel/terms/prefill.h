// Prefill on one device: matrix products on the roofline (roofline.h), attention, element-wise passes.
//
// Neutral it is compute.h's forward pass. Where attention is fused the half of the scores that the causal mask
// hides is not computed; attention and head have 16-bit operands whatever the format of the products.
#pragma once

#include "costmodel/problem.h"
#include "costmodel/terms/compute.h"
#include "costmodel/terms/roofline.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] double prefill_attention_flop(const StageOfTask<T>& s) {
  const double tokens = attention_tokens(s);
  const double whole = layer_sequences(s) * s.layers() * s.model().layer_flop(tokens).attention;
  if (!s.execution().fused_attention) return whole;
  return whole * s.model().attended_tokens(0.5 * tokens) / s.model().attended_tokens(tokens);
}

template <typename T>
[[nodiscard]] T prefill_s(const StageOfTask<T>& s) {
  const ForwardFlop flop = forward_flop(s);
  const double attention = prefill_attention_flop(s), traffic = gemm_traffic_bytes(s);
  const double tokens = layer_sequences(s) * s.task.prompt_tokens / s.context_parallel();
  const double elements = tokens * s.layers() * s.task.element_bytes;
  const double activations =
      elements * activation_elements(s.model(), s.tensor_parallel(), s.execution().sequence_parallel);
  const double scores =
      s.execution().fused_attention
          ? 0.0
          : elements * s.model().attended_tokens(attention_tokens(s)) * s.model().heads / s.tensor_parallel();
  const Precision plain = s.problem.workflow.precision;
  return max_over_devices(s, [&](DeviceId d) {
    const auto coefficient = [&](CoefficientId id) -> const T& { return s.problem.coefficient(id, d); };
    const auto rate = [&](Precision precision) {
      return T(coefficient(CoefficientId::prefill_efficiency) * reached_flop_per_s(s, d, precision) *
               s.width());
    };
    const T plain_rate = rate(plain);
    T products = flop.dense / rate(s.task.precision) + flop.head / plain_rate;
    if (flop.experts > 0) {
      products += coefficient(CoefficientId::expert_flop_weight) * flop.experts / rate(s.task.expert_precision);
    }
    const T memory = s.problem.hardware.memory_bytes_per_s(d);
    const T moved = coefficient(CoefficientId::gemm_traffic_weight) * traffic / memory;
    const T passed = (coefficient(CoefficientId::activation_traffic_weight) * activations +
                      coefficient(CoefficientId::score_traffic_weight) * scores) /
                     memory;
    return T(beside(products, moved, s.problem.coefficient(CoefficientId::roofline_sharing)) +
             coefficient(CoefficientId::prefill_attention_weight) * attention / plain_rate + passed);
  });
}

}  // namespace sextant::terms
