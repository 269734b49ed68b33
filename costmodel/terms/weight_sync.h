// Getting the trained weights into generation (HetRL B.2 "Resharding" and "Synchronization").
//
// Resharding, where every generation device is a training device:
//   cv_all-gather(t,i) = B * P * (n_i - 1) / n_i,   C_reshard = max over i of the ring over replica i
// Synchronization, where generation has devices of its own:
//   C_sync = min_i C_all-gather(t,i) + max_i' C_broadcast(t',i') + C_p2p(t,t')
// with cv_p2p = B * P and the broadcast's own volume cv_broadcast(t',i') (the appendix writes the
// all-gather's in its place). P are all parameters, embedding and head included.
//
// Ours, neutral by default: experts of expert-parallel ranks gathered from them, a fixed time and a time for
// every tensor, what is copied in a device's own memory (the parts of tensor-parallel stages put together, the
// engine's own copy filled), only the fraction of the weights that is sent (WeightSyncPlan::fraction_sent),
// weights that wait on the host (fetched), and four other ways between pools (the first two: seed 002, 5.2):
//   flat            all generation devices fetch the weights: n' * B * P over the pools' links
//   topology-aware  one copy in shards on all links at once, then a broadcast: B * P over them, C_broadcast
//   broadcast       B * P around one ring of both pools' devices, on all rails of a node, beside C_all-gather
//   (one
//                   NCCL group of trainers and engines: verl's one-step-off, NeMo RL's packed broadcast)
//   sharded         a copy for each replica, shard to shard: B * P a replica over the pools' links (NeMo RL's
//                   nccl_reshard)
// Links between pools add up device by device until a node's network is full. Adapters are sent alone: nothing
// else is copied into the engine. Where weights are sharded a layer is gathered as one to get at its adapters.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/expert_parallel.h"

namespace sextant::terms {

// All devices of generation also train: the plan is colocated and reshards.
[[nodiscard]] bool is_colocated(const TaskWork& generation, const TaskWork& training);

// Whether only adapters reach generation.
[[nodiscard]] inline bool sends_adapters(const TaskWork& training) {
  return training.execution().lora_rank > 0;
}

// Parameters that generation gets.
[[nodiscard]] double sent_parameters(const TaskWork& training);

// Bytes of one copy of the weights as far as they are sent.
template <typename T>
[[nodiscard]] double sent_bytes(const Problem<T>& problem, const TaskWork& training) {
  return problem.plan.weight_sync.fraction_sent * training.moved_weight_bytes() * sent_parameters(training);
}

// The same as far as they are gathered.
template <typename T>
[[nodiscard]] double gathered_bytes(const Problem<T>& problem, const TaskWork& training) {
  if (training.execution().zero_stage < 3) return sent_bytes(problem, training);
  return problem.plan.weight_sync.fraction_sent * training.moved_weight_bytes() * training.model->parameters();
}

// Weight tensors of a model as checkpoints name them: norms, projections, each expert's matrices.
[[nodiscard]] double weight_tensors(const Model& model);

// What is gathered and sent one by one: tensors, or layers with their adapters.
[[nodiscard]] double sent_tensors(const TaskWork& training);

// All-gather or broadcast of `bytes` inside one replica.
template <typename T>
[[nodiscard]] T replica_gather_s(const Problem<T>& problem, const Replica& replica, double bytes) {
  const std::vector<DeviceId> devices = replica.devices();
  const double n = static_cast<double>(devices.size());
  const double volume = bytes * (n - 1.0) / n;
  return ring_step_s(problem, std::span<const DeviceId>(devices), volume,
                     problem.coefficient(CoefficientId::reshard_efficiency));
}

// Ours: experts that are dealt over replicas beside this one. Its pipeline then holds a part of them only, and
// the ranks of each stage's expert group gather theirs from each other.
template <typename T>
[[nodiscard]] T trained_gather_s(const Problem<T>& problem, const TaskWork& training, std::size_t of_class,
                                 double bytes) {
  const Replica& replica =
      training.plan->replicas[static_cast<std::size_t>(training.classes[of_class].replica)];
  const Model& model = *training.model;
  const StageOfTask<T> first{problem, training, static_cast<int>(of_class), 0};
  const double groups =
      model.experts ? expert_width(training.execution(), first.tensor_parallel()) / first.tensor_parallel()
                    : 1.0;
  if (groups <= 1) return replica_gather_s(problem, replica, bytes);
  const double experts = bytes * model.layers * model.layer_expert_parameters() / model.parameters();
  T from_ranks(0.0);
  for (int j = 0; j < replica.pipeline_parallel(); ++j) {
    const std::vector<DeviceId> group =
        expert_group(StageOfTask<T>{problem, training, static_cast<int>(of_class), j});
    const T cost = ring_step_s(problem, std::span<const DeviceId>(group), experts * (groups - 1.0) / groups,
                               problem.coefficient(CoefficientId::reshard_efficiency));
    if (from_ranks < cost) from_ranks = cost;
  }
  return replica_gather_s(problem, replica, bytes - experts + experts / groups) + from_ranks;
}

// Slowest replica's; replicas of one class are alike.
template <typename T>
[[nodiscard]] T slowest_gather_s(const Problem<T>& problem, const TaskWork& task, double bytes) {
  T slowest(0.0);
  for (const ReplicaClass& of_class : task.classes) {
    const T cost =
        replica_gather_s(problem, task.plan->replicas[static_cast<std::size_t>(of_class.replica)], bytes);
    if (slowest < cost) slowest = cost;
  }
  return slowest;
}

[[nodiscard]] inline std::vector<DeviceId> devices_of(const TaskWork& task) {
  return {task.devices.begin(), task.devices.end()};
}

// Ours: what is sharded over replicas (ZeRO stage 3) is gathered from them first, stages beside each other.
template <typename T>
[[nodiscard]] T sharded_gather_s(const Problem<T>& problem, const TaskWork& training) {
  T slowest(0.0);
  if (training.execution().zero_stage < 3) return slowest;
  const double bytes_of_layer = gathered_bytes(problem, training) / training.model->layers;
  for (const GradientGroup& group : training.gradient_groups) {
    const double n = static_cast<double>(group.members.size());
    const double volume = bytes_of_layer * group.layers * (n - 1.0) / (n * group.tensor_parallel);
    const T cost =
        ring_step_s(problem, group, volume, Reached<T>(problem.coefficient(CoefficientId::reshard_efficiency)));
    if (slowest < cost) slowest = cost;
  }
  return slowest;
}

template <typename T>
[[nodiscard]] T reshard_s(const Problem<T>& problem, const TaskWork& training) {
  T slowest(0.0);
  for (std::size_t c = 0; c < training.classes.size(); ++c) {
    const T cost = trained_gather_s(problem, training, c, gathered_bytes(problem, training));
    if (slowest < cost) slowest = cost;
  }
  return sharded_gather_s(problem, training) + slowest;
}

// Fastest replica's, which is enough where generation has devices of its own.
template <typename T>
[[nodiscard]] T fastest_gather_s(const Problem<T>& problem, const TaskWork& training) {
  const double bytes = gathered_bytes(problem, training);
  T fastest = trained_gather_s(problem, training, 0, bytes);
  for (std::size_t c = 1; c < training.classes.size(); ++c) {
    const T cost = trained_gather_s(problem, training, c, bytes);
    if (cost < fastest) fastest = cost;
  }
  return sharded_gather_s(problem, training) + fastest;
}

template <typename T>
[[nodiscard]] T synchronize_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  const double bytes = sent_bytes(problem, training);
  const T broadcast = slowest_gather_s(problem, generation, bytes);
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(generation);
  const T transfer = fastest_transfer_s(problem, std::span<const DeviceId>(from), std::span<const DeviceId>(to),
                                        bytes, problem.coefficient(CoefficientId::weight_sync_efficiency));
  return fastest_gather_s(problem, training) + broadcast + transfer;
}

// `copies` of the weights over all links between the two pools at once.
template <typename T>
[[nodiscard]] T between_pools_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation,
                                double copies) {
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(generation);
  const double streams = static_cast<double>(std::min(from.size(), to.size()));
  const Cluster& cluster = problem.cluster();
  const T& efficiency = problem.coefficient(CoefficientId::weight_sync_efficiency);
  if (from.front() == to.front()) return T(0.0);
  const LinkCost<T> link = problem.hardware.link(from.front(), to.front());
  T rate = streams * link.bytes_per_s;
  for (const auto* pool : {&from, &to}) {
    double network = 0;
    bool known = true;
    std::set<NodeId> nodes;
    for (const DeviceId device : *pool) {
      const NodeId node = cluster.node_of(device);
      if (!nodes.insert(node).second) continue;
      const auto& of_node = cluster.nodes()[node.index()].network_bytes_per_s;
      known = known && of_node.has_value();
      network += of_node.value_or(0);
    }
    if (known && T(network) < rate) rate = T(network);
  }
  return problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s +
         copies * sent_bytes(problem, training) / (efficiency * rate);
}

template <typename T>
[[nodiscard]] T topology_aware_s(const Problem<T>& problem, const TaskWork& training,
                                 const TaskWork& generation) {
  const std::vector<DeviceId> to = devices_of(generation);
  const double n = static_cast<double>(to.size());
  return between_pools_s(problem, training, generation, 1) +
         ring_step_s(problem, std::span<const DeviceId>(to), sent_bytes(problem, training) * (n - 1.0) / n,
                     problem.coefficient(CoefficientId::reshard_efficiency));
}

// Everything passes every device once, so the slowest edge of the ring paces it. Tensors are gathered while
// those before them are sent.
template <typename T>
[[nodiscard]] T broadcast_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  std::set<DeviceId> both = training.devices;
  both.insert(generation.devices.begin(), generation.devices.end());
  const std::vector<DeviceId> members(both.begin(), both.end());
  const NetworkUse use{1, nodes_of_ring(problem.cluster(), members)};
  const double bytes = sent_bytes(problem, training);
  const auto cost = [&](DeviceId from, DeviceId to) -> T {
    const LinkCost<T> link = problem.hardware.link(from, to);
    const Reached<T> reached(problem.coefficient(CoefficientId::weight_sync_efficiency));
    return problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s +
           bytes / group_bytes_per_s(problem, from, to, link, reached, use);
  };
  if (members.size() < 2) return T(0.0);
  const RingEdge slowest = slowest_ring_edge(
      problem.cluster(), members, [&](DeviceId from, DeviceId to) { return plain_value(cost(from, to)); });
  const T gathering = fastest_gather_s(problem, training), sending = cost(slowest.from, slowest.to);
  return gathering < sending ? sending : gathering;
}

// Read and written at the measured memory bandwidth, by the slowest device of a stage.
template <typename T>
[[nodiscard]] T copy_s(const StageOfTask<T>& stage, double bytes) {
  return max_over_devices(stage, [&](DeviceId d) {
    return T(stage.problem.coefficient(CoefficientId::weight_copy_weight, d) * (2.0 * bytes) /
             stage.problem.hardware.memory_bytes_per_s(d));
  });
}

// Ours, neutral at zero: the gathered parts of tensor-parallel stages become whole tensors, one stage's after
// the other's.
template <typename T>
[[nodiscard]] T assembling_s(const Problem<T>& problem, const TaskWork& training) {
  const double all = training.model->parameters(), sent = sent_bytes(problem, training);
  T slowest(0.0);
  for (std::size_t c = 0; c < training.classes.size(); ++c) {
    const auto& replica = training.plan->replicas[static_cast<std::size_t>(training.classes[c].replica)];
    double in_parts = 0;
    for (int j = 0; j < replica.pipeline_parallel(); ++j) {
      const StageOfTask<T> stage{problem, training, static_cast<int>(c), j};
      if (stage.tensor_parallel() > 1) in_parts += stage.parameters();
    }
    if (in_parts == 0) continue;
    for (int j = 0; j < replica.pipeline_parallel(); ++j) {
      const T cost = copy_s(StageOfTask<T>{problem, training, static_cast<int>(c), j}, sent * in_parts / all);
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

// Ours, neutral at zero: each generation device cuts its shard out and writes it into the engine's own copy.
template <typename T>
[[nodiscard]] T delivering_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  const double all = generation.model->parameters(), sent = sent_bytes(problem, training);
  T slowest(0.0);
  for (std::size_t c = 0; c < generation.classes.size(); ++c) {
    const auto& replica = generation.plan->replicas[static_cast<std::size_t>(generation.classes[c].replica)];
    for (int j = 0; j < replica.pipeline_parallel(); ++j) {
      const StageOfTask<T> stage{problem, generation, static_cast<int>(c), j};
      const T cost = copy_s(stage, sent * stage.parameters() / (all * stage.tensor_parallel()));
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

// Devices that do both do one after the other; pools of their own hand tensors on, so that the slower copies
// pace.
template <typename T>
[[nodiscard]] T copied_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  if (sends_adapters(training)) return T(0.0);
  const T assembling = assembling_s(problem, training),
          delivering = delivering_s(problem, training, generation);
  if (is_colocated(generation, training)) return assembling + delivering;
  return assembling < delivering ? delivering : assembling;
}

// Ours: weights that wait on the host come to their devices for it, and go back.
template <typename T>
[[nodiscard]] T fetched_s(const Problem<T>& problem, const TaskWork& training) {
  if (!training.execution().offload_weights) return T(0.0);
  const double replicas =
      training.execution().zero_stage >= 3 ? static_cast<double>(training.replicas.size()) : 1.0;
  T slowest(0.0);
  for (std::size_t c = 0; c < training.classes.size(); ++c) {
    const auto& replica = training.plan->replicas[static_cast<std::size_t>(training.classes[c].replica)];
    for (int j = 0; j < replica.pipeline_parallel(); ++j) {
      const StageOfTask<T> stage{problem, training, static_cast<int>(c), j};
      const double held = training.weight_bytes * stage.parameters() / (stage.tensor_parallel() * replicas);
      const T cost = max_over_devices(stage, [&](DeviceId d) {
        return T(2.0 * held /
                 (problem.coefficient(CoefficientId::host_link_efficiency, d) *
                  problem.hardware.host_bytes_per_s(d)));
      });
      if (slowest < cost) slowest = cost;
    }
  }
  return slowest;
}

// Whichever the plan pays.
template <typename T>
[[nodiscard]] T moved_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  if (is_colocated(generation, training)) return reshard_s(problem, training);
  switch (problem.plan.weight_sync.method) {
    case WeightSyncMethod::shortest:
      return synchronize_s(problem, training, generation);
    case WeightSyncMethod::flat:
      return between_pools_s(problem, training, generation, static_cast<double>(generation.devices.size()));
    case WeightSyncMethod::topology_aware:
      return topology_aware_s(problem, training, generation);
    case WeightSyncMethod::broadcast:
      return broadcast_s(problem, training, generation);
    case WeightSyncMethod::sharded:
      return between_pools_s(problem, training, generation,
                             static_cast<double>(generation.plan->data_parallel()));
  }
  SEXTANT_CHECK(false);
  return T(0.0);
}

// What telling the workers of both sides costs, once and for every tensor that changes hands. A loop has no one
// to tell.
template <typename T>
[[nodiscard]] T handover_s(const Problem<T>& problem, const TaskWork& training) {
  if (!problem.workflow.has_controller()) return T(0.0);
  return problem.coefficient(CoefficientId::weight_sync_overhead_s) +
         sent_tensors(training) * problem.coefficient(CoefficientId::weight_sync_tensor_overhead_s);
}

template <typename T>
[[nodiscard]] T weight_sync_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  return moved_s(problem, training, generation) + copied_s(problem, training, generation) +
         fetched_s(problem, training) + handover_s(problem, training);
}

}  // namespace sextant::terms
