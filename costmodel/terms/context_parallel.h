// Context-parallel communication: not in the appendix, where no plan has it.
//
// Ring attention (Liu et al. 2023; Megatron Core's context parallelism): every device passes the keys and
// values of its part of the sequence around the group once a layer and forward pass, and the gradients with
// them on the way back:
//   cv_cp = B * mbs * (seq_in + seq_out) / CP * kv elements a token / TP
//   C_cp  = n * nm * nl_j * (CP - 1) * ring step,   n = 1 forward, 3 forward and backward
// context_parallel_overlap is the share that runs beside the attention of the parts already there.
#pragma once

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// One device of every tensor-parallel group of the stage.
template <typename T>
[[nodiscard]] std::vector<DeviceId> context_group(const StageOfTask<T>& s) {
  std::vector<DeviceId> members;
  const auto tp = static_cast<std::size_t>(s.tensor_parallel());
  const std::vector<DeviceId>& devices = s.stage_plan().devices;
  for (std::size_t k = 0; k < devices.size(); k += tp) members.push_back(devices[k]);
  return members;
}

template <typename T>
[[nodiscard]] T context_parallel_s(const StageOfTask<T>& s, const T& compute_s) {
  const double cp = s.context_parallel();
  if (cp < 2) return T(0.0);
  const double tokens = s.is_generation() ? s.task.prompt_tokens : s.work().sequence_tokens;
  const double elements = s.model().kv_cache_elements_per_token() / s.tensor_parallel();
  const double volume = s.task.element_bytes * s.work().micro_batch_sequences * tokens / cp * elements;
  const double passes = s.is_training() ? (s.task.plan->recompute == Recompute::full ? 4 : 3) : 1;
  const std::vector<DeviceId> members = context_group(s);
  const T moved = passes * s.work().micro_batches * s.layers() * (cp - 1.0) *
                  ring_step_s(s.problem, std::span<const DeviceId>(members), volume,
                              s.problem.coefficient(CoefficientId::context_parallel_efficiency));
  return exposed(moved, compute_s, s.problem.coefficient(CoefficientId::context_parallel_overlap));
}

}  // namespace sextant::terms
