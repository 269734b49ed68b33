// Expert-parallel all-to-all: not in the appendix, which has no models with experts.
//
// Every token goes to its k experts and comes back, once a layer and pass (GShard; Megatron Core's
// all-to-all dispatcher):
//   cv_ep = B * tokens of a micro-batch / (CP * TP) * k * h1 * (EP - 1) / EP,   TP: the tokens are split there
//   C_ep  = 2 * n * nm * nl_j * (alpha + cv_ep / beta),   n = 1 forward, 2 forward and backward (3 recomputing)
// In an all-to-all every device sends its own part through its own link: the part for other nodes, (EP - r) /
// (EP - 1) with r devices of the group in a node, overlaps with the part inside, so the longer of the two
// counts. Fused dispatch (DeepEP, Zhao et al. 2025) sends a token once to each node that holds any of its
// experts, and there once to each such device. Ours, neutral at zero: the share that overlaps with the
// computation of another micro-batch, if a plan overlaps them (expert_parallel_overlap), and a fixed time of
// every layer's routing that CUDA graphs do not replay (expert_layer_overhead_s): the counts of tokens must be
// known, on the host too, before they are sent, and many small kernels sort them. The group is EP consecutive
// devices: first those of the stage, then of the next replicas.
//
// Serving engines whose replicas hold the experts together (data-parallel attention: vLLM's data_parallel_size with
// expert parallelism, SGLang's dp_size with enable_dp_attention) exchange tokens otherwise: R such replicas gather the
// hidden states of all their tokens, and reduce and scatter the experts' results, which moves
//   cv = B * tokens of a replica's pass * h1 * (R - 1)     in each direction,
// in decode steps too (decode.h). With fused dispatch it is the all-to-all above.
#pragma once

#include <algorithm>
#include <cmath>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

// Returns the devices among which this stage's experts are distributed, as many as the plan has.
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
    for (std::size_t k = 0; k < devices.size() && members.size() < wanted; k += inside)
      members.push_back(devices[k]);
  }
  return members;
}

// The data that a device sends in one all-to-all, in copies of all its tokens.
struct DispatchedCopies {
  double inside = 0;   // to other devices of its node
  double outside = 0;  // to other nodes
};

// Returns a copy for each expert of a token, whose experts are assumed random; fused kernels send one copy to
// each node that holds any of them, and inside the node one to each such device.
[[nodiscard]] inline DispatchedCopies dispatched_copies(double experts, bool fused, double devices,
                                                        double nodes) {
  const double in_node = devices / nodes, others = devices - 1.0;
  if (!fused) return {experts * (in_node - 1.0) / devices, experts * (devices - in_node) / devices};
  const auto holds_any = [experts](double among) { return 1.0 - std::pow(1.0 - 1.0 / among, experts); };
  if (in_node < 2) return {0, others * holds_any(devices)};
  return {others * holds_any(devices), (nodes - 1.0) * holds_any(nodes)};
}

// Seconds of one all-to-all; copy_bytes: one copy of a device's tokens.
template <typename T>
[[nodiscard]] T all_to_all_s(const Problem<T>& problem, std::span<const DeviceId> members, double copy_bytes,
                             double experts, bool fused) {
  const T& efficiency = problem.coefficient(CoefficientId::expert_parallel_efficiency);
  const RingNodes nodes = nodes_of_ring(problem.cluster(), members);
  const auto devices = static_cast<double>(members.size());
  if (nodes.count < 2 || nodes.rails < 2) {
    const DispatchedCopies copies = dispatched_copies(experts, fused, devices, nodes.count < 2 ? 1.0 : devices);
    return ring_step_s(problem, members, copy_bytes * (copies.inside + copies.outside), efficiency);
  }
  const DispatchedCopies copies = dispatched_copies(experts, fused, devices, devices / nodes.rails);
  NetworkUse each{Leaving::all(nodes.rails), nodes};  // each on one of the rails
  each.nodes.rails = 1;
  each.nodes.inner.reset();
  const T outside = ring_step_s(problem, members, copy_bytes * copies.outside, efficiency, each);
  const T inside = copy_bytes * copies.inside / (efficiency * nodes.inner_bytes_per_s);
  return outside < inside ? inside : outside;
}

// Layers of the stage that have experts.
template <typename T>
[[nodiscard]] double expert_layers(const StageOfTask<T>& s) {
  return s.layers() * s.model().expert_share();
}

// Layers with experts that are passed, over all micro-batches; forward and backward (and once more if
// recomputed).
template <typename T>
[[nodiscard]] double routed_layers(const StageOfTask<T>& s) {
  const double passes = s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
  const double directions = s.is_training() ? (s.task.plan->recompute == Recompute::full ? 3.0 : 2.0) : 1.0;
  return directions * passes * expert_layers(s);
}

// Replicas of an engine that hold its experts together, each with the attention and the KV cache of its own sequences.
template <typename T>
[[nodiscard]] int attention_replicas(const StageOfTask<T>& s) {
  if (!s.is_generation() || !s.model().experts) return 1;
  return std::max(1, static_cast<int>(expert_width(s.execution(), s.tensor_parallel()) / s.tensor_parallel()));
}

// Returns the first device of this stage in each of them: those at the same place in the others form groups alike.
template <typename T>
[[nodiscard]] std::vector<DeviceId> attention_group(const StageOfTask<T>& s) {
  const std::vector<Replica>& replicas = s.task.plan->replicas;
  const auto together = static_cast<std::size_t>(attention_replicas(s));
  const std::size_t first = static_cast<std::size_t>(s.replica()) / together * together;
  std::vector<DeviceId> members;
  for (std::size_t i = first; i < std::min(first + together, replicas.size()); ++i) {
    if (static_cast<std::size_t>(s.stage) < replicas[i].stages.size())
      members.push_back(replicas[i].stages[static_cast<std::size_t>(s.stage)].devices.front());
  }
  return members;
}

// Seconds in which `tokens` tokens of every such replica reach the experts of a layer and their results return.
template <typename T>
[[nodiscard]] T attention_exchange_s(const StageOfTask<T>& s, double tokens) {
  const double bytes = s.task.element_bytes * tokens * s.model().hidden;
  if (s.execution().fused_dispatch) {
    const std::vector<DeviceId> members = expert_group(s);
    return 2.0 * all_to_all_s(s.problem, std::span<const DeviceId>(members), bytes / s.tensor_parallel(),
                              s.model().experts->active_per_token, true);
  }
  const std::vector<DeviceId> members = attention_group(s);
  return 2.0 * ring_step_s(s.problem, std::span<const DeviceId>(members), (attention_replicas(s) - 1.0) * bytes,
                           s.problem.coefficient(CoefficientId::expert_parallel_efficiency),
                           s.tensor_parallel());
}

template <typename T>
[[nodiscard]] T expert_parallel_s(const StageOfTask<T>& s, const T& compute_s) {
  const double layers = routed_layers(s);
  if (layers == 0) return T(0.0);
  T routing(0.0);
  if (!s.is_training() || s.execution().training_graphs == TrainingGraphs::none) {
    routing = layers * s.problem.coefficient(CoefficientId::expert_layer_overhead_s);
  }
  const bool shares_experts = attention_replicas(s) > 1;
  if (s.execution().expert_parallel < 2 && !shares_experts) return routing;
  const double tokens = s.is_generation() ? s.work().prefill_sequences * s.task.prompt_tokens
                                          : s.work().sequences * s.work().sequence_tokens;
  const double of_pass = tokens / (s.is_generation() ? s.work().prefill_passes : s.work().micro_batches);
  T sent(0.0);
  if (shares_experts) {
    sent = layers * attention_exchange_s(s, of_pass);
  } else {
    const double share = s.context_parallel() * s.tensor_parallel();
    const double copy_bytes = s.task.element_bytes * of_pass / share * s.model().hidden;
    const std::vector<DeviceId> members = expert_group(s);
    sent = 2.0 * layers *
           all_to_all_s(s.problem, std::span<const DeviceId>(members), copy_bytes,
                        s.model().experts->active_per_token, s.execution().fused_dispatch);
  }
  // Serving engines do not state whether they overlap dispatch, so their coefficient covers both cases.
  if (!s.is_generation() && !s.execution().overlap_dispatch) return routing + sent;
  return routing + exposed(sent, compute_s, s.problem.coefficient(CoefficientId::expert_parallel_overlap));
}

}  // namespace sextant::terms
