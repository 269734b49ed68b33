// Traffic over the link to the host: not in the appendix, where every state stays on its device.
//
// offload_weights: the states of the task (weights; in training gradients and optimizer state too) come in
// before it and go out after it. offload_activations: what the backward pass needs goes out and comes back,
// once a layer and micro-batch. host_link_efficiency: share of the link's bandwidth that is reached.
#pragma once

#include "costmodel/memory.h"
#include "costmodel/problem.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T offload_s(const StageOfTask<T>& s) {
  const Execution& execution = s.execution();
  double bytes = 0;
  if (execution.offload_weights) bytes += 2.0 * offloaded_bytes(s.task, s.replica(), s.stage);
  if (execution.offload_activations && s.is_training()) {
    bytes += 2.0 * s.work().micro_batches * micro_batch_activation_bytes(s.task, s.replica(), s.stage);
  }
  if (bytes == 0) return T(0.0);
  return max_over_devices(s, [&](DeviceId d) {
    return T(bytes / (s.problem.coefficient(CoefficientId::host_link_efficiency, d) *
                      s.problem.hardware.host_bytes_per_s(d)));
  });
}

}  // namespace sextant::terms
