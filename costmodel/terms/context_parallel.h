// Context-parallel communication: not in the appendix, which has no such plans.
//
// Ring attention (Liu et al. 2023; Megatron Core's context parallelism): every device passes the keys and
// values of its part of the sequence around the group once a layer and forward pass, and the gradients with
// them on the way back:
//   cv_cp = B * mbs * (seq_in + seq_out) / CP * kv elements a token / TP
//   C_cp  = n * nm * nl_j * (CP - 1) * ring step,   n = 1 forward, 3 forward and backward
// context_parallel_overlap is the share that overlaps with the attention of the parts that have arrived.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// Returns one device of every tensor-parallel group of the stage.
template <typename T>
[[nodiscard]] std::vector<DeviceId> context_group(const StageOfTask<T>& s) {
  std::vector<DeviceId> members;
  const auto tp = static_cast<std::size_t>(s.tensor_parallel());
  const std::vector<DeviceId>& devices = s.stage_plan().devices;
  for (std::size_t k = 0; k < devices.size(); k += tp) members.push_back(devices[k]);
  return members;
}

// Bytes that one device passes to the next in one step.
template <typename T>
[[nodiscard]] double context_volume_bytes(const StageOfTask<T>& s) {
  const double tokens = s.is_generation() ? s.task.prompt_tokens : s.work().sequence_tokens;
  const double elements = s.model().kv_cache_elements_per_token() / s.tensor_parallel();
  return s.task.element_bytes * s.work().micro_batch_sequences * tokens / s.context_parallel() * elements;
}

// Returns the number of such steps in all micro-batches and layers.
template <typename T>
[[nodiscard]] double context_transfers(const StageOfTask<T>& s) {
  const double passes = s.is_training() ? (s.task.plan->recompute == Recompute::full ? 4 : 3) : 1;
  return passes * s.work().micro_batches * s.layers() * (s.context_parallel() - 1.0);
}

template <typename T>
[[nodiscard]] T context_transfers_s(const StageOfTask<T>& s) {
  const std::vector<DeviceId> members = context_group(s);
  return context_transfers(s) * ring_step_s(s.problem, std::span<const DeviceId>(members),
                                            context_volume_bytes(s),
                                            s.problem.coefficient(CoefficientId::context_parallel_efficiency));
}

template <typename T>
[[nodiscard]] T context_parallel_s(const StageOfTask<T>& s, const T& compute_s) {
  if (s.context_parallel() < 2) return T(0.0);
  return exposed(context_transfers_s(s), compute_s,
                 s.problem.coefficient(CoefficientId::context_parallel_overlap));
}

}  // namespace sextant::terms
