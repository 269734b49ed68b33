// Getting the trained weights into generation (HetRL B.2 "Resharding" and "Synchronization").
//
// Resharding, where every generation device is a training device:
//   cv_all-gather(t,i) = B * P * (n_i - 1) / n_i,   C_reshard = max over i of the ring over replica i
// Synchronization, where generation has devices of its own:
//   C_sync = min_i C_all-gather(t,i) + max_i' C_broadcast(t',i') + C_p2p(t,t')
// with cv_p2p = B * P and the broadcast's own volume cv_broadcast(t',i') (the appendix writes the
// all-gather's in its place). P are all parameters, embedding and head included.
#pragma once

#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

// All devices of generation also train: the plan is colocated and reshards.
[[nodiscard]] bool is_colocated(const TaskPlan& generation, const TaskPlan& training);

// All-gather or broadcast of the whole model inside one replica.
template <typename T>
[[nodiscard]] T replica_gather_s(const Problem<T>& problem, const TaskWork& task, const Replica& replica) {
  const std::vector<DeviceId> devices = replica.devices();
  const double n = static_cast<double>(devices.size());
  const double volume = task.element_bytes * task.model->parameters() * (n - 1.0) / n;
  return ring_step_s(problem, std::span<const DeviceId>(devices), volume,
                     problem.coefficient(CoefficientId::weight_sync_efficiency));
}

template <typename T>
[[nodiscard]] T reshard_s(const Problem<T>& problem, const TaskWork& training) {
  T slowest(0.0);
  for (const Replica& replica : training.plan->replicas) {
    const T cost = replica_gather_s(problem, training, replica);
    if (slowest < cost) slowest = cost;
  }
  return slowest;
}

template <typename T>
[[nodiscard]] T synchronize_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  T gather = replica_gather_s(problem, training, training.plan->replicas.front());
  for (const Replica& replica : training.plan->replicas) {
    const T cost = replica_gather_s(problem, training, replica);
    if (cost < gather) gather = cost;
  }
  T broadcast(0.0);
  for (const Replica& replica : generation.plan->replicas) {
    const T cost = replica_gather_s(problem, generation, replica);
    if (broadcast < cost) broadcast = cost;
  }
  const auto devices_of = [](const TaskPlan& plan) {
    const std::set<DeviceId> unique = plan.devices();
    return std::vector<DeviceId>(unique.begin(), unique.end());
  };
  const std::vector<DeviceId> from = devices_of(*training.plan), to = devices_of(*generation.plan);
  const T transfer = fastest_transfer_s(problem, std::span<const DeviceId>(from), std::span<const DeviceId>(to),
                                        training.element_bytes * training.model->parameters(),
                                        problem.coefficient(CoefficientId::weight_sync_efficiency));
  return gather + broadcast + transfer;
}

// Ours, neutral at zero: each generation device reads its shard and writes it into the engine's own copy.
template <typename T>
[[nodiscard]] T weight_copy_s(const Problem<T>& problem, const TaskWork& generation) {
  T slowest(0.0);
  for (std::size_t i = 0; i < generation.plan->replicas.size(); ++i) {
    const Replica& replica = generation.plan->replicas[i];
    for (std::size_t j = 0; j < replica.stages.size(); ++j) {
      const StageOfTask<T> stage{problem, generation, static_cast<int>(i), static_cast<int>(j)};
      const double bytes = 2.0 * generation.element_bytes * stage.parameters() / stage.tensor_parallel();
      const T cost = max_over_devices<T>(stage.stage_plan(), [&](DeviceId d) {
        return T(problem.coefficient(CoefficientId::weight_copy_weight, d) * bytes /
                 problem.hardware.memory_bytes_per_s(d));
      });
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

// Whichever the plan pays.
template <typename T>
[[nodiscard]] T weight_sync_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  const T moved = is_colocated(*generation.plan, *training.plan) ? reshard_s(problem, training)
                                                                 : synchronize_s(problem, training, generation);
  return moved + weight_copy_s(problem, generation);
}

}  // namespace sextant::terms
