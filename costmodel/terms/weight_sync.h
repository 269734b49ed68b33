// Transfer of the trained weights to generation (HetRL B.2 "Resharding" and "Synchronization").
//
// Resharding, if every generation device is a training device:
//   cv_all-gather(t,i) = B * P * (n_i - 1) / n_i,   C_reshard = max over i of the ring over replica i
// Synchronization, if generation has devices of its own (WeightSyncMethod::per_replica):
//   C_sync = min_i C_all-gather(t,i) + max_i' C_broadcast(t',i') + max_i' C_p2p(t,t',i')
// with cv_p2p = B * P and the broadcast's own volume cv_broadcast(t',i') (the appendix writes the
// all-gather's in its place). P are all parameters, embedding and head included. The appendix has one C_p2p and
// says that it is "for G_D_i'": each replica i' gets its copy, so the last of them counts.
//
// Ours, neutral by default: experts gathered from expert-parallel ranks, a fixed time, another where an engine is
// woken, a time per message (a tensor, or a bucket of tensors: WeightSyncPlan::bucket_bytes), copies in a device's
// own memory (parts of tensor-parallel stages are assembled, the engine's own copy is filled), sending only a
// fraction of the weights (WeightSyncPlan::fraction_sent), weights that wait on the host (fetched), and the
// methods of frameworks between pools of n and n' devices (the first two: seed 002, 5.2), with
// weight_transfer.h for the transfers from trainers to devices:
//   flat            every generation device fetches all B * P bytes
//   topology-aware  every generation device fetches B * P / n', and C_broadcast around all of them
//   sharded         every generation device fetches its own part (NeMo RL's nccl_reshard): as much as the one
//                   with the largest, the part of a stage's weights that its tensor parallelism leaves
//   broadcast       B * P around one ring of both pools' devices, on all rails of a node, during C_all-gather
//                   (one NCCL group of trainers and engines: verl's one-step-off, NeMo RL's packed broadcast)
//   shortest        the minimum of these four
// Weights that another task uses on devices that do not all train them - a critic's in its evaluation, the
// actor's in old_log_prob - are fetched there in shards (ReaL's parameter reallocation), in parallel with the
// actor's own transfer. The first three fetch from the nearest trainer, while all replicas of training gather.
// Adapters are sent alone: nothing else is copied into the engine. If weights are sharded a whole layer is
// gathered to get its adapters.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/expert_parallel.h"
#include "costmodel/terms/weight_transfer.h"

namespace sextant::terms {

// Whether all devices of generation also train: the plan is colocated and reshards.
[[nodiscard]] bool is_colocated(const TaskWork& generation, const TaskWork& training);

// Whether only adapters reach generation.
[[nodiscard]] inline bool sends_adapters(const TaskWork& training) {
  return training.execution().lora_rank > 0;
}

// Returns the number of parameters that generation receives.
[[nodiscard]] double sent_parameters(const TaskWork& training);

// Returns the bytes of one copy of the weights that are sent.
template <typename T>
[[nodiscard]] double sent_bytes(const Problem<T>& problem, const TaskWork& training) {
  return problem.plan.weight_sync.fraction_sent * training.moved_weight_bytes() * sent_parameters(training);
}

// Returns the bytes of one copy of the weights that are gathered.
template <typename T>
[[nodiscard]] double gathered_bytes(const Problem<T>& problem, const TaskWork& training) {
  if (training.execution().zero_stage < 3) return sent_bytes(problem, training);
  return problem.plan.weight_sync.fraction_sent * training.moved_weight_bytes() * training.model->parameters();
}

// Weight tensors of a model as checkpoints name them: norms, projections, each expert's matrices.
[[nodiscard]] double weight_tensors(const Model& model);

// Returns the number of items gathered and sent one by one: tensors, or layers with their adapters.
[[nodiscard]] double sent_tensors(const TaskWork& training);

// Ours: reshard_efficiency stands for what software does with each byte, not for the network. It was fitted to runs whose
// networks have 200 Gbit/s or more for each device, so that on slower ones it is the same time for each byte.
template <typename T>
[[nodiscard]] LinkEfficiency<T> reshard_share(const Problem<T>& problem) {
  constexpr double kSlowestMeasured = 200e9 / 8;
  LinkEfficiency<T> share(problem.coefficient(CoefficientId::reshard_efficiency));
  if (plain_value(share.between) < 1) share.slowest_measured = kSlowestMeasured;
  return share;
}

// Seconds of an all-gather or broadcast of `bytes` inside one replica.
template <typename T>
[[nodiscard]] T replica_gather_s(const Problem<T>& problem, const Replica& replica, double bytes) {
  const std::vector<DeviceId> devices = replica.devices();
  const double n = static_cast<double>(devices.size());
  const double volume = bytes * (n - 1.0) / n;
  return ring_step_s(problem, std::span<const DeviceId>(devices), volume, reshard_share(problem));
}

// Ours: experts that are distributed over other replicas too. The pipeline then holds only a part of them, and
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
                               reshard_share(problem));
    if (from_ranks < cost) from_ranks = cost;
  }
  return replica_gather_s(problem, replica, bytes - experts + experts / groups) + from_ranks;
}

// Returns the slowest replica's gather; replicas of one class are equal.
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

// Ours: weights sharded over replicas (ZeRO stage 3) are gathered from them first, all stages in parallel.
template <typename T>
[[nodiscard]] T sharded_gather_s(const Problem<T>& problem, const TaskWork& training) {
  T slowest(0.0);
  if (training.execution().zero_stage < 3) return slowest;
  const double bytes_of_layer = gathered_bytes(problem, training) / training.model->layers;
  for (const GradientGroup& group : training.sharding_groups()) {
    const double n = static_cast<double>(group.members.size());
    const double volume = bytes_of_layer * group.layers * (n - 1.0) / (n * group.tensor_parallel);
    const T cost = ring_step_s(problem, group, volume, reshard_share(problem));
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

// Returns the fastest replica's gather, which is enough if generation has devices of its own.
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

// The union of two ascending sets, ascending.
[[nodiscard]] std::vector<DeviceId> union_of(std::span<const DeviceId> some, std::span<const DeviceId> others);

// All data passes every device once, so the slowest edge of the ring sets the rate.
template <typename T>
[[nodiscard]] T around_both_s(const Problem<T>& problem, std::span<const DeviceId> training,
                              std::span<const DeviceId> generation, double bytes) {
  const std::vector<DeviceId> members = union_of(training, generation);
  if (members.size() < 2) return T(0.0);
  const NetworkUse use{{}, nodes_of_ring(problem.cluster(), members)};
  const auto cost = [&](DeviceId from, DeviceId to) -> T {
    const LinkCost<T> link = problem.hardware.link(from, to);
    const LinkEfficiency<T> reached(problem.coefficient(CoefficientId::weight_sync_efficiency));
    return problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s +
           bytes / group_bytes_per_s(problem, from, to, link, reached, use);
  };
  const RingEdge slowest = slowest_ring_edge(
      problem.cluster(), members, [&](DeviceId from, DeviceId to) { return plain_value(cost(from, to)); });
  return cost(slowest.from, slowest.to);
}

// Both sets are ascending. part: the largest part of the weights on a device of generation. bytes: of one copy.
template <typename T>
[[nodiscard]] WeightWays<T> weight_ways(const Problem<T>& problem, std::span<const DeviceId> training,
                                        std::span<const DeviceId> generation, double part, double bytes) {
  const WeightSyncMethod method = problem.plan.weight_sync.method;
  const auto wants = [method](WeightSyncMethod one) {
    return method == one || method == WeightSyncMethod::shortest;
  };
  WeightWays<T> ways;
  if (wants(WeightSyncMethod::broadcast))
    ways.around_both_s = around_both_s(problem, training, generation, bytes);
  if (method == WeightSyncMethod::broadcast) return ways;
  const Fetching<T> fetching(problem, training, generation,
                             problem.coefficient(CoefficientId::weight_sync_efficiency));
  if (method == WeightSyncMethod::flat) ways.flat_s = fetching.time_s(bytes);
  if (wants(WeightSyncMethod::sharded)) ways.sharded_s = fetching.time_s(bytes * part);
  if (wants(WeightSyncMethod::topology_aware)) {
    const double n = static_cast<double>(generation.size());
    ways.topology_aware_s = fetching.time_s(bytes / n) +
                            ring_step_s(problem, generation, bytes * (n - 1.0) / n, reshard_share(problem));
  }
  return ways;
}

// The fraction of a model's weights that a device of such a stage holds.
[[nodiscard]] inline double part_of_weights(const Model& model, int layers, bool is_first, bool is_last,
                                            int tensor_parallel) {
  return slice_parameters(model, layers, is_first, is_last) / (model.parameters() * tensor_parallel);
}

// The largest such fraction of any device of the task.
[[nodiscard]] double largest_part(const TaskWork& task);

// Seconds to send `bytes` from the first device to the last, a typical distance: compares layouts of one pool
// before the other is known.
[[nodiscard]] inline double usual_fetching_s(const Problem<double>& problem, double bytes) {
  const int last = problem.cluster().device_count() - 1;
  if (last < 1) return 0;
  const LinkCost<double> link = problem.hardware.link(DeviceId{0}, DeviceId{last});
  return bytes / (link.bytes_per_s * problem.coefficient(CoefficientId::weight_sync_efficiency));
}

template <typename T>
[[nodiscard]] T synchronize_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  const double bytes = sent_bytes(problem, training);
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(generation);
  const std::span<const DeviceId> senders(from), receivers(to);
  const WeightSyncMethod method = problem.plan.weight_sync.method;
  const T fastest_s = fastest_gather_s(problem, training);
  if (method == WeightSyncMethod::per_replica)
    return fastest_s + slowest_gather_s(problem, generation, bytes) +
           copies_to_replicas_s(problem, senders, *generation.plan, bytes);
  return between_pools_s(method, weight_ways(problem, senders, receivers, largest_part(generation), bytes),
                         Gathers<T>{fastest_s, reshard_s(problem, training)});
}

// Weights that are trained here and used elsewhere: every device of the using task fetches its part. Both sets
// are ascending. part: the largest part of the weights on a device that uses them; bytes: of one copy.
template <typename T>
[[nodiscard]] T used_elsewhere_s(const Problem<T>& problem, std::span<const DeviceId> training,
                                 std::span<const DeviceId> used, double part, double bytes) {
  if (std::includes(training.begin(), training.end(), used.begin(), used.end())) return T(0.0);
  return Fetching<T>(problem, training, used, problem.coefficient(CoefficientId::weight_sync_efficiency))
      .time_s(bytes * part);
}

// Returns the bytes of one copy of the weights that a task trains.
[[nodiscard]] inline double trained_bytes(const TaskWork& training) {
  return training.moved_weight_bytes() * sent_parameters(training);
}

template <typename T>
[[nodiscard]] T used_elsewhere_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& user) {
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(user);
  return used_elsewhere_s(problem, std::span<const DeviceId>(from), std::span<const DeviceId>(to),
                          largest_part(user), trained_bytes(training));
}

// Seconds to read and write `bytes` at the measured memory bandwidth, on the slowest device of a stage.
template <typename T>
[[nodiscard]] T copy_s(const StageOfTask<T>& stage, double bytes) {
  return max_over_devices(stage, [&](DeviceId d) {
    return T(stage.problem.coefficient(CoefficientId::weight_copy_weight, d) * (2.0 * bytes) /
             stage.problem.hardware.memory_bytes_per_s(d));
  });
}

// Ours, neutral at zero: the gathered parts of tensor-parallel stages are assembled to whole tensors, one stage
// after the other.
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

// Ours, neutral at zero: each generation device cuts out its shard and writes it into the engine's own copy.
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

// Devices in both pools copy twice in turn; separate pools work as a pipeline, so the slower copies set the
// rate.
template <typename T>
[[nodiscard]] T copied_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  if (sends_adapters(training)) return T(0.0);
  const T assembling = assembling_s(problem, training),
          delivering = delivering_s(problem, training, generation);
  if (is_colocated(generation, training)) return assembling + delivering;
  return assembling < delivering ? delivering : assembling;
}

// Ours: weights that wait on the host are loaded to their devices for it, and stored back.
template <typename T>
[[nodiscard]] T fetched_s(const Problem<T>& problem, const TaskWork& training) {
  if (!training.execution().offload_weights) return T(0.0);
  const double shards = training.execution().zero_stage >= 3 ? training.sharding_devices() : 1.0;
  T slowest(0.0);
  for (std::size_t c = 0; c < training.classes.size(); ++c) {
    const auto& replica = training.plan->replicas[static_cast<std::size_t>(training.classes[c].replica)];
    for (int j = 0; j < replica.pipeline_parallel(); ++j) {
      const StageOfTask<T> stage{problem, training, static_cast<int>(c), j};
      const double held = training.weight_bytes * stage.parameters() / (stage.tensor_parallel() * shards);
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

// Returns the transfer that the plan pays for.
template <typename T>
[[nodiscard]] T moved_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  if (is_colocated(generation, training)) return reshard_s(problem, training);
  return synchronize_s(problem, training, generation);
}

// Returns the messages in which the tensors are sent: as many as there are buckets, if tensors are packed.
template <typename T>
[[nodiscard]] double sent_messages(const Problem<T>& problem, const TaskWork& training) {
  const double tensors = sent_tensors(training), bucket = problem.plan.weight_sync.bucket_bytes;
  if (bucket <= 0) return tensors;
  return std::min(tensors, std::ceil(sent_bytes(problem, training) / bucket));
}

// The cost of notifying the workers of both sides, once and for every message. A tensor that is packed with
// others still costs both sides a part of a message: it is looked up, copied and loaded on its own. A loop has no
// workers to notify.
template <typename T>
[[nodiscard]] T handover_s(const Problem<T>& problem, const TaskWork& training) {
  if (!problem.workflow.has_controller()) return T(0.0);
  T items(sent_messages(problem, training));
  if (problem.plan.weight_sync.bucket_bytes > 0)
    items += sent_tensors(training) * problem.coefficient(CoefficientId::weight_sync_packed_weight);
  return problem.coefficient(CoefficientId::weight_sync_overhead_s) +
         items * problem.coefficient(CoefficientId::weight_sync_tensor_overhead_s);
}

// An engine on the trainers' devices sleeps while they train: its memory is mapped again before it gets weights.
template <typename T>
[[nodiscard]] T engine_woken_s(const Problem<T>& problem) {
  if (!problem.workflow.has_controller()) return T(0.0);
  return problem.coefficient(CoefficientId::engine_wake_overhead_s);
}

template <typename T>
[[nodiscard]] T weight_sync_s(const Problem<T>& problem, const TaskWork& training, const TaskWork& generation) {
  return moved_s(problem, training, generation) + copied_s(problem, training, generation) +
         fetched_s(problem, training) + handover_s(problem, training) +
         (is_colocated(generation, training) ? engine_woken_s(problem) : T(0.0));
}

}  // namespace sextant::terms
