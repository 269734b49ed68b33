// Traffic over the link to the host: not in the appendix, where every state stays on its device.
//
// offload_weights: the states of the task (weights; in training gradients and optimizer state too) come in
// before it and go out after it. offload_activations: what the backward pass needs goes out and comes back,
// once a layer and micro-batch, of all layers or so many of each stage; they travel beside the computation of
// other layers (offload_overlap). host_link_efficiency: share of the link's bandwidth that is reached.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/memory.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// The slowest device's time for sending `bytes` of each.
template <typename T>
[[nodiscard]] T host_link_s(const StageOfTask<T>& s, double bytes) {
  if (bytes == 0) return T(0.0);
  return max_over_devices(s, [&](DeviceId d) {
    return T(bytes / (s.problem.coefficient(CoefficientId::host_link_efficiency, d) *
                      s.problem.hardware.host_bytes_per_s(d)));
  });
}

// compute_s: of the stage, which hides what travels beside it.
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
