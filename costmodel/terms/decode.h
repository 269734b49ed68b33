// Decoding (HetRL B.2 "Memory-bound decoding").
//
//   C_hbm(t,i,j,k) = seq_out * nm * mbs * B * nl_j * params / (dbs * hbm_d * TP_j),   max over k
//
// Every step reads the stage's weights once for the sequences that decode together. Ours, neutral by default:
// the arithmetic of a step, reads of the KV cache, a fixed time of the host a step, layer and sequence (less
// with CUDA graphs), latency of collectives and transfers every step, and the waiting of pipeline stages for
// each other. How many steps there are and how many sequences live in them is in work.h. Experts: a step
// reads those that any of its tokens is routed to; sharded over EP ranks each reads its own.
#pragma once

#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/adapters.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/smooth.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T weight_reads_s(const StageOfTask<T>& s) {
  const double ep = s.execution().expert_parallel;
  double parameters = s.layers() * s.model().layer_active_parameters() / s.tensor_parallel();
  if (s.model().experts) {
    const double all = s.model().layer_touched_parameters(s.work().live_sequences() * ep);
    const double dense = s.model().layer_parameters() - s.model().layer_expert_parameters();
    parameters = s.layers() * (dense / s.tensor_parallel() +
                               (all - dense) / expert_width(s.execution(), s.tensor_parallel()));
  }
  if (s.is_last()) parameters += s.model().head_parameters() / s.tensor_parallel();
  const double bytes = s.work().decode_steps * s.task.weight_bytes * parameters;
  return max_over_devices(s, [&](DeviceId d) {
    return T(bytes / (s.problem.coefficient(CoefficientId::decode_bandwidth_efficiency, d) *
                      s.problem.hardware.memory_bytes_per_s(d)));
  });
}

// Tokens that an average decode step attends to.
template <typename T>
[[nodiscard]] double mean_context(const StageOfTask<T>& s) {
  return s.work().decode_context_tokens / s.work().decode_tokens;
}

template <typename T>
[[nodiscard]] T decode_flop_s(const StageOfTask<T>& s) {
  const LayerFlop layer = s.model().decode_layer_flop(mean_context(s));
  const double head = s.is_last() ? s.model().head_flop(1) : 0.0;
  const double tokens = s.work().decode_tokens;
  return max_over_devices(s, [&](DeviceId d) {
    const T flop =
        tokens * (s.layers() * (layer.projections + layer.mlp +
                                s.problem.coefficient(CoefficientId::attention_weight, d) * layer.attention) +
                  head);
    return T(s.problem.coefficient(CoefficientId::decode_flop_weight, d) * flop /
             (s.problem.hardware.flop_per_s(d, s.task.precision) * s.width()));
  });
}

template <typename T>
[[nodiscard]] T kv_cache_reads_s(const StageOfTask<T>& s) {
  const double split = cache_split(s.task, s.stage_plan());
  const double attended = s.model().attended_tokens(mean_context(s));
  const double bytes = s.work().decode_tokens * attended * s.layers() *
                       s.model().kv_cache_elements_per_token() * s.task.cache_bytes / split;
  return max_over_devices(s, [&](DeviceId d) {
    return T(s.problem.coefficient(CoefficientId::decode_kv_read_weight, d) * bytes /
             s.problem.hardware.memory_bytes_per_s(d));
  });
}

// The device starts and ends the kernels of a layer one after another, however little they move: that is all that a
// layer of a replayed graph costs beside its reads. Launched layers wait for the host instead, which takes longer.
template <typename T>
[[nodiscard]] T decode_floor_s(const StageOfTask<T>& s) {
  if (!s.execution().cuda_graphs) return T(0.0);
  const T layers = prepared_layers(s);
  return max_over_devices(s, [&](DeviceId d) {
    return T(s.work().decode_steps * layers *
             s.problem.coefficient(CoefficientId::decode_graph_layer_overhead_s, d));
  });
}

// Of the host: a step, its launched layers, and its sequences (scheduling, sampling).
template <typename T>
[[nodiscard]] T decode_host_s(const StageOfTask<T>& s) {
  const T layers = prepared_layers(s);
  return max_over_devices(s, [&](DeviceId d) {
    T step = s.problem.coefficient(CoefficientId::decode_step_overhead_s, d);
    if (!s.execution().cuda_graphs)
      step += layers * s.problem.coefficient(CoefficientId::decode_layer_overhead_s, d);
    return T(s.work().decode_steps * step +
             s.work().decode_tokens * s.problem.coefficient(CoefficientId::decode_token_overhead_s, d));
  });
}

// The appendix charges the volume of decode collectives with the prefill's (seq_out is in cv_tp and cv_pp)
// but the latency only once a micro-batch; every step pays it.
template <typename T>
[[nodiscard]] T decode_latency_s(const StageOfTask<T>& s) {
  const T one(1.0);
  const double all_reduces = all_reduces_per_layer(false, Recompute::none) * s.layers();
  T step = all_reduces * ring_step_s(s.problem, s.tensor_group(), 0.0, one);
  if (!s.is_last()) {
    step += fastest_transfer_s(s.problem, std::span<const DeviceId>(s.stage_plan().devices),
                               std::span<const DeviceId>(s.next_stage_plan().devices), 0.0, one);
  }
  return s.problem.coefficient(CoefficientId::decode_latency_weight) * s.work().decode_steps * step;
}

// Everything of one stage.
template <typename T>
[[nodiscard]] T decode_s(const StageOfTask<T>& s) {
  const T device =
      weight_reads_s(s) + decode_flop_s(s) + kv_cache_reads_s(s) + decode_latency_s(s) + decode_floor_s(s);
  return beside(device, decode_host_s(s), s.problem.coefficient(CoefficientId::decode_host_sharing));
}

// A token needs all stages one after another, so with fewer waves than stages the pipeline is not full:
// a step then takes the sum of one wave over the stages instead of all waves on the slowest stage.
template <typename T>
[[nodiscard]] T decode_serialization_s(const Problem<T>& problem, const ReplicaWork& work,
                                       const std::vector<T>& stage_decode_s) {
  T sum(0.0), slowest(0.0);
  for (const T& stage : stage_decode_s) {
    sum += stage / work.decode_waves;
    if (slowest < stage) slowest = stage;
  }
  if (sum < slowest) return T(0.0);
  return problem.coefficient(CoefficientId::decode_serialization_weight) * (sum - slowest);
}

}  // namespace sextant::terms
