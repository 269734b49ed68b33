// Attention in addition to the projections of a layer. Ours, neutral by default.
//
// Fused attention (FlashAttention) skips the half of the scores that the causal mask hides; a FLOP of it costs
// more than one of a projection (attention_weight), yet more by kernels written for older devices
// (portable_attention_weight). Attention that is not fused passes over its matrix of scores
// (score_traffic_weight). Its operands are as wide as the workflow's, whatever the format of the products,
// unless a plan says otherwise.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/gemm_rate.h"
#include "costmodel/terms/passes.h"

namespace sextant::terms {

// Returns the FLOP of attention that are computed.
template <typename T>
[[nodiscard]] double computed_attention_flop(const StageOfTask<T>& s) {
  const double tokens = attention_tokens(s);
  const double whole = layer_sequences(s) * s.layers() * s.model().layer_flop(tokens).attention;
  if (!s.execution().fused_attention) return whole;
  return whole * s.model().attended_tokens(0.5 * tokens) / s.model().attended_tokens(tokens);
}

template <typename T>
[[nodiscard]] Precision attention_precision(const StageOfTask<T>& s) {
  return s.execution().attention_precision.value_or(plain_precision(s));
}

// Returns the cost of a FLOP of attention in this precision relative to one of a projection. On Hopper
// FlashAttention 3 is 1.5 to 2 times as fast forward as 2, and 1.5 to 1.75 times backward (Shah et al. 2024,
// 4.1). Ours: any rate beyond Hopper's 16-bit rate (FLOP/s, datasheet), from a later device or 8 bits, comes
// from instructions that kernels for older devices do not use.
template <typename T>
[[nodiscard]] T attention_cost(const StageOfTask<T>& s, DeviceId d, Precision precision) {
  constexpr double kHopper = 9.89e14;
  const T& weight = s.problem.coefficient(CoefficientId::attention_weight, d);
  if (!s.execution().portable_attention) return weight;
  const T& rate = s.problem.hardware.flop_per_s(d, precision);
  const T cost = weight * s.problem.coefficient(CoefficientId::portable_attention_weight);
  return rate < T(kHopper) ? cost : T(cost * rate / kHopper);
}

// Returns the elements of the scores that one forward pass writes on one device: 0 if attention is fused.
template <typename T>
[[nodiscard]] double score_elements(const StageOfTask<T>& s) {
  if (s.execution().fused_attention) return 0;
  const double attended = s.model().attended_tokens(attention_tokens(s));
  return layer_tokens(s) * s.layers() * attended * s.model().full_attention_share() * s.model().heads /
         s.tensor_parallel();
}

}  // namespace sextant::terms
