// Memory traffic of inference and training in parallel with their arithmetic: matrix products (gemm_traffic.h),
// activations (activation_traffic.h), scores (attention.h), and the logits that loss and log-probabilities read
// (logit_traffic_weight). Not in the appendix, neutral at zero. Prefill has its own sum (prefill.h).
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/activation_traffic.h"
#include "costmodel/terms/attention.h"
#include "costmodel/terms/gemm_traffic.h"
#include "costmodel/terms/passes.h"

namespace sextant::terms {

// Returns the traffic of all passes, in seconds.
template <typename T>
[[nodiscard]] T traffic_s(const StageOfTask<T>& s) {
  const double tokens = layer_tokens(s), tp = s.tensor_parallel(), bytes = s.task.element_bytes;
  const double activations = tokens * s.layers() * bytes * activation_elements(s.model(), tp, s.execution());
  const double gemms = gemm_traffic_bytes(s), scores = bytes * score_elements(s);
  const bool all_logits = s.is_last() && !s.is_generation() && !s.model().value_head;
  const double logits = all_logits ? tokens * bytes * s.model().vocabulary / tp : 0.0;
  const T passed = passes(s), seen = attention_passes(s);
  return max_over_devices(s, [&](DeviceId d) {
    const T moved = passed * (s.problem.coefficient(CoefficientId::activation_traffic_weight, d) * activations +
                              s.problem.coefficient(CoefficientId::gemm_traffic_weight, d) * gemms) +
                    seen * s.problem.coefficient(CoefficientId::score_traffic_weight, d) * scores +
                    head_passes(s) * s.problem.coefficient(CoefficientId::logit_traffic_weight, d) * logits;
    return T(moved / s.problem.hardware.memory_bytes_per_s(d));
  });
}

}  // namespace sextant::terms
