// Prefill on one device: matrix products on the roofline (roofline.h), attention, element-wise passes.
//
// With neutral coefficients it is compute.h's forward pass.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/activation_traffic.h"
#include "costmodel/terms/attention.h"
#include "costmodel/terms/compute.h"
#include "costmodel/terms/gemm_rate.h"
#include "costmodel/terms/gemm_traffic.h"
#include "costmodel/terms/passes.h"
#include "costmodel/terms/roofline.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T prefill_s(const StageOfTask<T>& s) {
  const ForwardFlop flop = forward_flop(s);
  const double attention = computed_attention_flop(s), traffic = gemm_traffic_bytes(s);
  const double elements = layer_tokens(s) * s.layers() * s.task.element_bytes;
  const double activations = elements * activation_elements(s.model(), s.tensor_parallel(), s.execution());
  const double scores = s.task.element_bytes * score_elements(s);
  const Precision plain = plain_precision(s), seen_in = attention_precision(s);
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
             coefficient(CoefficientId::prefill_attention_weight) * attention / rate(seen_in) + passed);
  });
}

}  // namespace sextant::terms
