// Expert-parallel all-to-all: not in the appendix, where no model has experts.
//
// Every token goes to its k experts and comes back, once a layer and pass (GShard; Megatron Core's
// all-to-all dispatcher):
//   cv_ep = B * tokens of a micro-batch / (CP * TP) * k * h1 * (EP - 1) / EP,   TP: the tokens are split there
//   C_ep  = 2 * n * nm * nl_j * (alpha + cv_ep / beta),   n = 1 forward, 2 forward and backward (3 recomputing)
// The group is EP devices that follow each other: first those of the stage, then of the next replicas.
#pragma once

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

// The devices among which this stage's experts are dealt, as many as the plan has.
template <typename T>
[[nodiscard]] std::vector<DeviceId> expert_group(const StageOfTask<T>& s) {
  const auto wanted = static_cast<std::size_t>(s.execution().expert_parallel);
  const std::size_t replicas = s.task.plan->replicas.size();
  const std::size_t inside = s.execution().expert_tensor_parallel > 0
                                 ? static_cast<std::size_t>(s.execution().expert_tensor_parallel)
                                 : static_cast<std::size_t>(s.tensor_parallel());
  std::vector<DeviceId> members;
  for (std::size_t i = 0; i < replicas && members.size() < wanted; ++i) {
    const Replica& replica = s.task.plan->replicas[(static_cast<std::size_t>(s.replica()) + i) % replicas];
    if (static_cast<std::size_t>(s.stage) >= replica.stages.size()) continue;
    const std::vector<DeviceId>& devices = replica.stages[static_cast<std::size_t>(s.stage)].devices;
    for (std::size_t k = 0; k < devices.size() && members.size() < wanted; k += inside) members.push_back(devices[k]);
  }
  return members;
}

template <typename T>
[[nodiscard]] T expert_parallel_s(const StageOfTask<T>& s) {
  const double ep = s.execution().expert_parallel;
  if (ep < 2 || !s.model().experts) return T(0.0);
  const double tokens = s.is_generation() ? s.work().prefill_sequences * s.task.prompt_tokens
                                          : s.work().sequences * s.task.sequence_tokens();
  const double passes = s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
  const double share = s.context_parallel() * s.tensor_parallel();
  const double layers =
      s.layers() * (1.0 - static_cast<double>(s.model().experts->dense_layers) / s.model().layers);
  const double volume = s.task.element_bytes * tokens / (passes * share) * s.model().experts->active_per_token *
                        s.model().hidden * (ep - 1.0) / ep;
  const double directions =
      s.is_training() ? (s.task.plan->recompute == Recompute::full ? 3.0 : 2.0) : 1.0;
  const std::vector<DeviceId> members = expert_group(s);
  return 2.0 * directions * passes * layers *
         ring_step_s(s.problem, std::span<const DeviceId>(members), volume,
                     s.problem.coefficient(CoefficientId::expert_parallel_efficiency));
}

}  // namespace sextant::terms
