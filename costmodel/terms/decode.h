// Decoding (HetRL B.2 "Memory-bound decoding").
//
//   C_hbm(t,i,j,k) = seq_out * nm * mbs * B * nl_j * params / (dbs * hbm_d * TP_j),   max over k
//
// Every step reads the stage's weights once for the sequences that decode together. Ours, neutral by default:
// the arithmetic of a step in parallel with its reads (roofline.h), reads of the KV cache, a fixed time per
// layer (by its kernels, kernels.h), per step and per sequence, latency of collectives and transfers in every
// step, and the wait of pipeline stages for each other. work.h has the number of steps and of live sequences.
// Experts: a step reads the experts to which any of its tokens is routed; sharded over EP ranks each reads its
// own. Where replicas hold them together, the step's tokens are exchanged (expert_parallel.h). Attention and head have
// 16-bit operands whatever the format of the products.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/adapters.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/expert_parallel.h"
#include "costmodel/terms/kernels.h"
#include "costmodel/terms/roofline.h"
#include "costmodel/terms/smooth.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

// Returns the tokens that an average decode step attends to.
template <typename T>
[[nodiscard]] double mean_context(const StageOfTask<T>& s) {
  return s.work().decode_context_tokens / s.work().decode_tokens;
}

// Returns the rows that a matrix product computes for `rows`: units work on tiles, so few rows cost a tile.
[[nodiscard]] inline double padded_rows(double rows, double tile) {
  return std::sqrt(rows * rows + tile * tile);
}

// The smallest tiles of a GPU: 64 rows of a product (Hopper's wgmma and the usual choice elsewhere), 16 of a
// grouped one. A CPU core works row by row.
struct TileRows {
  double product = 64;
  double grouped = 16;
};
[[nodiscard]] inline TileRows tile_rows(DeviceKind kind) {
  return kind == DeviceKind::cpu ? TileRows{0, 0} : TileRows{};
}

// Returns the columns of an expert that one device of its tensor-parallel group holds.
[[nodiscard]] inline double expert_columns(const TaskWork& task, double tensor_parallel) {
  const double ranks = std::max(1, task.execution().expert_parallel);
  return task.model->experts->intermediate * ranks / expert_width(task.execution(), tensor_parallel);
}

// One kind of kernel of a stage in a mean decode step, on one device.
struct DecodeKernel {
  double flop = 0;
  double bytes = 0;
};
struct DecodeStep {
  DecodeKernel dense;    // projections and MLP outside routed experts
  DecodeKernel experts;  // routed experts: those that receive a token of the ranks that share them
  DecodeKernel attention;
  DecodeKernel head;
};

template <typename T>
[[nodiscard]] DecodeStep decode_step(const StageOfTask<T>& s) {
  const Model& model = s.model();
  const double tp = s.tensor_parallel(), live = s.work().live_sequences();
  const TileRows tile = tile_rows(s.problem.cluster().type_of(s.kinds().front()).kind);
  const double rows = padded_rows(live, tile.product);
  const double dense = s.layers() * (model.layer_parameters() - model.layer_expert_parameters());
  const double attended = model.attended_tokens(mean_context(s));
  DecodeStep step;
  step.dense = {2.0 * dense * rows / s.width(), s.task.weight_bytes * dense / tp};
  if (model.experts) {
    const double width = expert_width(s.execution(), tp);
    const double tokens = live * width / tp;  // tokens of the ranks that share the experts
    const double touched = model.touched_experts(tokens);
    const double read = s.layers() * model.layer_expert_parameters() * expert_share_read(s.task, tp, live);
    const double of_expert = tokens * model.experts->active_per_token / touched;
    step.experts = {2.0 * read * padded_rows(of_expert, tile.grouped) / s.context_parallel(),
                    s.task.expert_weight_bytes * read};
  }
  step.attention = {live * s.layers() * model.decode_layer_flop(mean_context(s)).attention / s.width(),
                    live * attended * s.layers() * model.kv_cache_elements_per_token() * s.task.cache_bytes /
                            cache_split(s.task, s.stage_plan()) +
                        2.0 * live * s.layers() * model.sequence_state_bytes() / tp};
  if (s.is_last()) {
    step.head = {2.0 * model.head_parameters() * rows / s.width(),
                 s.task.element_bytes * model.head_parameters() / tp};
  }
  return step;
}

// Time of reading columns of experts relative to wide ones: sqrt(1 + (w / c)^2), as if w more columns were read
// at right angles to the c of a device. w = 73 in fused kernels of vLLM, 35 (L40S) to 107 (H200) by device type
// (data/public/kernels). A CPU core reads row by row.
template <typename T>
[[nodiscard]] T narrow_read_weight(const StageOfTask<T>& s, DeviceId device) {
  using std::sqrt;
  if (s.problem.cluster().type_of(device).kind == DeviceKind::cpu) return T(1.0);
  const T share = s.problem.coefficient(CoefficientId::expert_narrow_columns, device) /
                  expert_columns(s.task, s.tensor_parallel());
  return sqrt(1.0 + share * share);
}

// Seconds of all steps on one device without fixed times; a kernel takes the longer of arithmetic and reads.
template <typename T>
[[nodiscard]] T decode_kernels_s(const StageOfTask<T>& s) {
  const DecodeStep step = decode_step(s);
  const T& sharing = s.problem.coefficient(CoefficientId::roofline_sharing);
  const Precision plain = s.problem.workflow.precision;
  return max_over_devices(s, [&](DeviceId d) {
    const auto coefficient = [&](CoefficientId id) -> const T& { return s.problem.coefficient(id, d); };
    const T& memory = s.problem.hardware.memory_bytes_per_s(d);
    const T& flop_weight = coefficient(CoefficientId::decode_flop_weight);
    const auto kernel_s = [&](const DecodeKernel& kernel, Precision precision, const T& bytes_per_s) {
      return beside(T(flop_weight * kernel.flop / reached_flop_per_s(s, d, precision)),
                    T(kernel.bytes / bytes_per_s), sharing);
    };
    const T weights = coefficient(CoefficientId::decode_bandwidth_efficiency) * memory;
    T step_s = kernel_s(step.dense, s.task.precision, weights);
    if (step.head.bytes > 0) step_s += kernel_s(step.head, plain, weights);
    if (step.experts.bytes > 0) {
      const T experts = weights / (coefficient(CoefficientId::expert_read_weight) * narrow_read_weight(s, d));
      step_s += kernel_s(step.experts, s.task.expert_precision, experts);
    }
    const T& cache = coefficient(CoefficientId::decode_kv_read_weight);
    step_s += beside(T(flop_weight * step.attention.flop / reached_flop_per_s(s, d, plain)),
                     T(cache * step.attention.bytes / memory), sharing);
    return T(s.work().decode_steps * step_s);
  });
}

// Fixed time of every layer's kernels: replayed from a graph it is a time of the device, launched one by one a
// time of the host, which works ahead of the device.
template <typename T>
[[nodiscard]] T decode_layers_s(const StageOfTask<T>& s) {
  const CoefficientId layer = s.execution().cuda_graphs ? CoefficientId::decode_graph_layer_overhead_s
                                                        : CoefficientId::decode_layer_overhead_s;
  const T layers = s.work().decode_steps * layer_kernels(s.task) * prepared_layers(s);
  return max_over_devices(s, [&](DeviceId d) { return T(layers * s.problem.coefficient(layer, d)); });
}

// Time between steps: scheduling, sampling, and the part of each sequence.
template <typename T>
[[nodiscard]] T decode_scheduling_s(const StageOfTask<T>& s) {
  return max_over_devices(s, [&](DeviceId d) {
    return T(s.work().decode_steps * s.problem.coefficient(CoefficientId::decode_step_overhead_s, d) +
             s.work().decode_tokens * s.problem.coefficient(CoefficientId::decode_token_overhead_s, d));
  });
}

// Serving engines have an all-reduce of their own for GPUs of one node: each reads the others' data in one step
// (4.3 us on two H100s, 4.7 us on eight; NCCL takes 5.3 and 10.1 us; aiconfigurator's tables).
template <typename T>
[[nodiscard]] bool reduces_in_one_step(const StageOfTask<T>& s) {
  const std::span<const DeviceId> group = s.tensor_group();
  const Cluster& cluster = s.problem.cluster();
  return s.execution().continuous_batching && cluster.type_of(group.front()).kind == DeviceKind::gpu &&
         std::all_of(group.begin(), group.end(), [&](DeviceId device) {
           return cluster.node_of(device) == cluster.node_of(group.front());
         });
}

// A step of a collective after the first, relative to a link's latency: 0.28 of it on eight A100s, 0.39 on
// eight H100s, 0.37 on eight B200s, 0.22 on four GB200s (NCCL's all-reduce of 512 bytes in aiconfigurator's
// tables).
inline constexpr double kFurtherStepShare = 0.3;

// Seconds of the steps of an all-reduce of a tiny message, as a library takes them. Decoding pays the links' own
// latency: the extra latency of training (link_latency_scale, collective_step_weight) is the host's, which decoding
// pays by the layer.
template <typename T>
[[nodiscard]] T decode_steps_latency_s(const Problem<T>& problem, std::span<const DeviceId> group) {
  if (group.size() < 2) return T(0.0);
  const auto latency_s = [&](DeviceId from, DeviceId to) -> T {
    return problem.hardware.link(from, to).latency_s;
  };
  const RingEdge slowest = slowest_ring_edge(
      problem.cluster(), group, [&](DeviceId from, DeviceId to) { return plain_value(latency_s(from, to)); });
  const T outer_s = latency_s(slowest.from, slowest.to);
  const RingNodes nodes = nodes_of_ring(problem.cluster(), group);
  if (nodes.count < 2 || !nodes.inner) {
    return outer_s * (1.0 + kFurtherStepShare * further_steps(static_cast<double>(group.size())));
  }
  return outer_s * (1.0 + kFurtherStepShare * further_steps(nodes.count)) +
         latency_s(nodes.inner->from, nodes.inner->to) * kFurtherStepShare * (1.0 + further_steps(nodes.rails));
}

// Seconds of one all-reduce of a tiny message within a tensor-parallel group.
template <typename T>
[[nodiscard]] T decode_all_reduce_s(const StageOfTask<T>& s) {
  const std::span<const DeviceId> group = s.tensor_group();
  if (group.size() < 2) return T(0.0);
  if (reduces_in_one_step(s)) return T(s.problem.hardware.link(group.front(), group.back()).latency_s);
  return decode_steps_latency_s(s.problem, group);
}

// The appendix charges the volume of decode collectives with the prefill's (seq_out is in cv_tp and cv_pp)
// but the latency only once a micro-batch; every step pays it. Data-parallel attention gathers and scatters around the
// experts of a layer, which are the two halves of an all-reduce, in place of the layer's second one.
template <typename T>
[[nodiscard]] T decode_latency_s(const StageOfTask<T>& s) {
  double all_reduces = all_reduces_per_layer(s.model(), false, Recompute::none) * s.layers();
  T step(0.0);
  if (attention_replicas(s) > 1) {
    const std::vector<DeviceId> group = attention_group(s);
    step += expert_layers(s) * decode_steps_latency_s(s.problem, std::span<const DeviceId>(group));
    all_reduces -= expert_layers(s);
  }
  step += all_reduces * decode_all_reduce_s(s);
  if (!s.is_last()) {
    const RingEdge way = fastest_link(s.problem, std::span<const DeviceId>(s.stage_plan().devices),
                                      std::span<const DeviceId>(s.next_stage_plan().devices), 0.0, T(1.0));
    if (way.from != way.to) step += s.problem.hardware.link(way.from, way.to).latency_s;
  }
  return s.problem.coefficient(CoefficientId::decode_latency_weight) * s.work().decode_steps * step;
}

// Seconds in which the hidden states of all steps move between replicas that hold the experts together, without latency.
template <typename T>
[[nodiscard]] T decode_exchange_s(const StageOfTask<T>& s) {
  if (attention_replicas(s) < 2) return T(0.0);
  return s.work().decode_steps * expert_layers(s) *
         (attention_exchange_s(s, s.work().live_sequences()) - attention_exchange_s(s, 0.0));
}

// Returns the decode time of one stage.
template <typename T>
[[nodiscard]] T decode_s(const StageOfTask<T>& s) {
  const T device = decode_kernels_s(s) + decode_latency_s(s) + decode_exchange_s(s),
          layers = decode_layers_s(s);
  const T step = s.execution().cuda_graphs
                     ? T(device + layers)
                     : beside(device, layers, s.problem.coefficient(CoefficientId::decode_host_sharing));
  return step + decode_scheduling_s(s);
}

// A token needs all stages one after another, so with fewer batches than stages the pipeline is not full: a step
// then takes the sum of one batch over the stages instead of all batches on the slowest stage.
template <typename T>
[[nodiscard]] T decode_serialization_s(const Problem<T>& problem, const ReplicaWork& work,
                                       const std::vector<T>& stage_decode_s) {
  T sum(0.0), slowest(0.0);
  for (const T& stage : stage_decode_s) {
    sum += stage / work.decode_batches;
    if (slowest < stage) slowest = stage;
  }
  if (sum < slowest) return T(0.0);
  return problem.coefficient(CoefficientId::decode_serialization_weight) * (sum - slowest);
}

}  // namespace sextant::terms
