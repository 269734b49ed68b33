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
#pragma once

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

// Layers with experts that are passed, over all micro-batches; forward and backward (and once more if
// recomputed).
template <typename T>
[[nodiscard]] double routed_layers(const StageOfTask<T>& s) {
  if (!s.model().experts) return 0;
  const double passes = s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
  const double directions = s.is_training() ? (s.task.plan->recompute == Recompute::full ? 3.0 : 2.0) : 1.0;
  return directions * passes * s.layers() *
         (1.0 - static_cast<double>(s.model().experts->dense_layers) / s.model().layers);
}

template <typename T>
[[nodiscard]] T expert_parallel_s(const StageOfTask<T>& s, const T& compute_s) {
  const double layers = routed_layers(s);
  if (layers == 0) return T(0.0);
  T routing(0.0);
  if (!s.is_training() || s.execution().training_graphs == TrainingGraphs::none) {
    routing = layers * s.problem.coefficient(CoefficientId::expert_layer_overhead_s);
  }
  const double ep = s.execution().expert_parallel;
  if (ep < 2) return routing;
  const double tokens = s.is_generation() ? s.work().prefill_sequences * s.task.prompt_tokens
                                          : s.work().sequences * s.work().sequence_tokens;
  const double passes = s.is_generation() ? s.work().prefill_passes : s.work().micro_batches;
  const double share = s.context_parallel() * s.tensor_parallel();
  const double copy_bytes = s.task.element_bytes * tokens / (passes * share) * s.model().hidden;
  const std::vector<DeviceId> members = expert_group(s);
  const T sent = 2.0 * layers *
                 all_to_all_s(s.problem, std::span<const DeviceId>(members), copy_bytes,
                              s.model().experts->active_per_token, s.execution().fused_dispatch);
  // Serving engines do not state whether they overlap dispatch, so their coefficient covers both cases.
  if (!s.is_generation() && !s.execution().overlap_dispatch) return routing + sent;
  return routing + exposed(sent, compute_s, s.problem.coefficient(CoefficientId::expert_parallel_overlap));
}

}  // namespace sextant::terms
