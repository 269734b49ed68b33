// Decoding (HetRL B.2 "Decoding (HBM-bandwidth bound)").
//
//   C_hbm(t,i,j,k) = seq_out * (nm * mbs / dbs) * B * nl_j * (4 h1^2 + 3 h1 h2) / (hbm_d * TP_j)
//
// The weights of a stage, its vocabulary head included, are read once for every token that dbs sequences
// decode together. dbs is at most the replica's sequences, so nm * mbs / dbs is at least 1.
// Ours, neutral at zero: the arithmetic of decoding, reads of the KV cache, a fixed time a layer and step,
// link latency a step, and the waiting of pipeline stages for each other.
#pragma once

#include <vector>

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

// Steps of one stage over all waves: each produces one token for up to dbs sequences.
template <typename T>
[[nodiscard]] double decode_steps(const StageOfTask<T>& s) {
  return s.task.response_tokens * s.work().decode_waves;
}

// C_hbm(t,i,j) = max over k.
template <typename T>
[[nodiscard]] T weight_reads_s(const StageOfTask<T>& s) {
  double parameters = s.layers() * s.model().layer_active_parameters();
  if (s.is_last()) parameters += s.model().head_parameters();
  const double bytes = decode_steps(s) * s.task.element_bytes * parameters / s.tensor_parallel();
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(bytes / (s.problem.coefficient(CoefficientId::decode_bandwidth_efficiency, d) *
                      s.problem.hardware.memory_bytes_per_s(d)));
  });
}

// Tokens that an average decode step attends to.
template <typename T>
[[nodiscard]] double mean_context(const StageOfTask<T>& s) {
  return s.task.prompt_tokens + 0.5 * (s.task.response_tokens + 1.0);
}

template <typename T>
[[nodiscard]] T decode_flop_s(const StageOfTask<T>& s) {
  const LayerFlop layer = s.model().decode_layer_flop(mean_context(s));
  const double head = s.is_last() ? s.model().head_flop(1) : 0.0;
  const double tokens = s.work().sequences * s.task.response_tokens;
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    const T flop =
        tokens * (s.layers() * (layer.projections + layer.mlp +
                                s.problem.coefficient(CoefficientId::attention_weight, d) * layer.attention) +
                  head);
    return T(s.problem.coefficient(CoefficientId::decode_flop_weight, d) * flop /
             (s.problem.hardware.flop_per_s(d) * s.tensor_parallel()));
  });
}

template <typename T>
[[nodiscard]] T kv_cache_reads_s(const StageOfTask<T>& s) {
  const double bytes = s.work().sequences * s.task.response_tokens * mean_context(s) * s.layers() *
                       s.model().kv_cache_elements_per_token() * s.task.element_bytes / s.tensor_parallel();
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(s.problem.coefficient(CoefficientId::decode_kv_read_weight, d) * bytes /
             s.problem.hardware.memory_bytes_per_s(d));
  });
}

template <typename T>
[[nodiscard]] T decode_overhead_s(const StageOfTask<T>& s) {
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(decode_steps(s) * s.layers() * s.problem.coefficient(CoefficientId::decode_layer_overhead_s, d));
  });
}

// The appendix charges the volume of decode collectives with the prefill's (seq_out is in cv_tp and cv_pp)
// but the latency only once a micro-batch; every step pays it.
template <typename T>
[[nodiscard]] T decode_latency_s(const StageOfTask<T>& s) {
  const T one(1.0);
  const double all_reduces = all_reduces_per_layer(false, false) * s.layers();
  T step = all_reduces * ring_step_s(s.problem, std::span<const DeviceId>(s.stage_plan().devices), 0.0, one);
  if (!s.is_last()) {
    const Stage& next = s.replica_plan().stages[static_cast<std::size_t>(s.stage) + 1];
    step += fastest_transfer_s(s.problem, std::span<const DeviceId>(s.stage_plan().devices),
                               std::span<const DeviceId>(next.devices), 0.0, one);
  }
  return s.problem.coefficient(CoefficientId::decode_latency_weight) * decode_steps(s) * step;
}

// Everything of one stage.
template <typename T>
[[nodiscard]] T decode_s(const StageOfTask<T>& s) {
  return weight_reads_s(s) + decode_flop_s(s) + kv_cache_reads_s(s) + decode_overhead_s(s) +
         decode_latency_s(s);
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
