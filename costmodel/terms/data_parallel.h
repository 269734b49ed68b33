// Data-parallel communication (HetRL B.2 "Data parallelism communication").
//
//   cv_dp(t,j,k) = B * nl_j * (4 h1^2 + 3 h1 h2) * 2 (n - 1) / (n * TP_j),   n replicas
//   C_dp(t,j,k) = min_ring max_edge (alpha + cv_dp / beta),   C_dp^t = max over j, k
//
// once a mini-batch. The stages' own parameters include embedding and head; context-parallel parts hold the
// same weights and take part as replicas do. Replicas that are cut differently reduce by segments of layers
// (symmetry.h), and a device pays for all segments it holds one after another; with equal stages a segment is
// a stage and this is the appendix.
//
// ZeRO (Rajbhandari et al. 2020): stages 1 and 2 replace the all-reduce by a reduce-scatter of gradients and an
// all-gather of weights of the same volume together; stage 3 has the reduce-scatter here and the gathers in
// sharded_weights.h; from stage 2 on gradients are reduced after every micro-batch.
// With sharded_over (hybrid sharding; Zhao et al. 2023, PyTorch FSDP, section 3.2.2) this is done in groups, after
// which devices of all groups reduce the shard that they have in common.
// Ours, neutral at zero: data_parallel_overlap, the share that overlaps with the backward pass.
#pragma once

#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// Returns the trainable weights in `layers` layers and the ends; all of them without LoRA. Adapters of rank r
// on a projection from a to b have r (a + b) weights.
[[nodiscard]] double trainable_parameters(const TaskWork& task, int layers, bool is_first, bool is_last);
// Returns the trainable weights in routed experts.
[[nodiscard]] double trainable_expert_parameters(const TaskWork& task, int layers);

// Returns how often a replica reduces gradients in one mini-batch.
[[nodiscard]] inline double reductions_per_mini_batch(const TaskWork& task) {
  if (task.execution().zero_stage < 2) return 1;
  return task.replicas.front().micro_batches / task.mini_batches;
}

// Parameters of one shard times 2 (n - 1) / n, the share of them that a neighbour on the ring receives. Experts
// that are distributed over EP ranks are smaller shards with fewer holders. shards: parts of it by ZeRO, of which
// each of the n devices has the same.
[[nodiscard]] double reduced_share(const TaskWork& task, const GradientGroup& group, double n,
                                   double shards = 1);

// A segment of layers that no replica cuts, and the time of its gradients: the slowest of its groups.
template <typename T>
struct ReducedSegment {
  int first_layer = 0;
  T time_s = T(0.0);
};

// Returns the time of a device's segments one after another, for the device with the largest sum.
template <typename T>
[[nodiscard]] T slowest_stage_s(const TaskPlan& plan, const std::vector<ReducedSegment<T>>& segments) {
  T slowest(0.0);
  for (const Replica& replica : plan.replicas) {
    int first = 0;
    std::size_t at = 0;
    for (const Stage& stage : replica.stages) {
      const int end = first + stage.layers;
      T sum(0.0);
      for (; at < segments.size() && segments[at].first_layer < end; ++at) sum += segments[at].time_s;
      if (slowest < sum) slowest = sum;
      first = end;
    }
  }
  return slowest;
}

// Returns the slowest group of each segment. volume(group): the bytes that two neighbours of it exchange.
template <typename T, typename Volume>
[[nodiscard]] std::vector<ReducedSegment<T>> reduced_segments(const Problem<T>& problem,
                                                              const std::vector<GradientGroup>& groups,
                                                              Volume volume) {
  const LinkEfficiency<T> reached = within_nodes(problem.coefficient(CoefficientId::data_parallel_efficiency));
  std::vector<ReducedSegment<T>> segments;
  for (const GradientGroup& group : groups) {
    if (segments.empty() || segments.back().first_layer != group.first_layer)
      segments.push_back({group.first_layer, T(0.0)});
    const T cost = ring_step_s(problem, group, volume(group), reached);
    if (segments.back().time_s < cost) segments.back().time_s = cost;
  }
  return segments;
}

// backward_s: the backward pass of the whole task on its slowest stage, with which reductions can overlap.
template <typename T>
[[nodiscard]] T data_parallel_s(const Problem<T>& problem, const TaskWork& task, const T& backward_s) {
  const double share_of_all_reduce = task.execution().zero_stage == 3 ? 0.5 : 1.0;
  const double reductions = reductions_per_mini_batch(task);
  std::vector<ReducedSegment<T>> segments =
      reduced_segments(problem, task.sharding_groups(), [&](const GradientGroup& group) {
        const double n = static_cast<double>(group.members.size());
        return task.gradient_bytes * share_of_all_reduce * reduced_share(task, group, n);
      });
  const std::vector<ReducedSegment<T>> copies =
      reduced_segments(problem, task.copy_groups, [&](const GradientGroup& group) {
        const double n = static_cast<double>(group.members.size());
        return task.gradient_bytes * reduced_share(task, group, n, task.sharding_devices());
      });
  for (std::size_t s = 0; s < copies.size(); ++s) segments[s].time_s += copies[s].time_s;
  const T slowest = slowest_stage_s(*task.plan, segments);
  // If gradients are reduced once, they are ready only during the last micro-batch's backward pass.
  const double micro_batches = task.replicas.front().micro_batches / task.mini_batches;
  const T beside_s = backward_s / (task.mini_batches * (reductions > 1 ? 1.0 : micro_batches));
  return task.mini_batches *
         exposed(T(reductions * slowest), beside_s, problem.coefficient(CoefficientId::data_parallel_overlap));
}

}  // namespace sextant::terms
