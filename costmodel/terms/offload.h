// Traffic over the link to the host: not in the appendix, which keeps every state on its device.
//
// offload_weights: the states of the task (weights; in training the optimizer's state too, and gradients if they
// are copied) are loaded before it and stored after it. offload_activations: activations for the backward pass go
// out and come back, once per layer and micro-batch, for all layers or a given number per stage; they overlap with
// the computation of other layers (offload_overlap). host_link_efficiency: share of the link's bandwidth that is
// reached.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/memory.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// Returns the slowest device's time for sending `bytes` each.
template <typename T>
[[nodiscard]] T host_link_s(const StageOfTask<T>& s, double bytes) {
  if (bytes == 0) return T(0.0);
  return max_over_devices(s, [&](DeviceId d) {
    return T(bytes / (s.problem.coefficient(CoefficientId::host_link_efficiency, d) *
                      s.problem.hardware.host_bytes_per_s(d)));
  });
}

// compute_s: computation of the stage, which hides overlapping transfers.
template <typename T>
[[nodiscard]] T offload_s(const StageOfTask<T>& s, const T& compute_s) {
  const Execution& execution = s.execution();
  double states = 0, activations = 0;
  if (execution.offload_weights) states = 2.0 * offloaded_bytes(s.task, s.replica(), s.stage);
  if (execution.offload_activations && s.is_training()) {
    activations = 2.0 * offloaded_share(execution, s.layers()) * s.work().micro_batches *
                  micro_batch_activation_bytes(s.task, s.replica(), s.stage);
  }
  return host_link_s(s, states) +
         exposed(host_link_s(s, activations), compute_s, s.problem.coefficient(CoefficientId::offload_overlap));
}

}  // namespace sextant::terms
