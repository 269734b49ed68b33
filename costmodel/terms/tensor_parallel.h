// Tensor-parallel communication (HetRL B.2 "Tensor parallelism communication").
//
//   cv_tp = B * mbs * (seq_in + seq_out) * h1 * 2 (TP_j - 1) / TP_j
//   C_tp(t,i,j) = n * nm * nl_j * min_ring max_edge (alpha + cv_tp / beta)
//
// n all-reduces a layer and micro-batch: 2 for a forward pass, 4 for forward and backward, 6 with
// recomputation (the appendix gives 2 and 6; without recomputation the backward pass has the same two as the
// forward pass). A vocabulary adds one for the embedding on the first stage and, in training, one for the
// gradient of the head on the last. Sequence parallelism replaces each all-reduce by a reduce-scatter and an
// all-gather of the same volume.
//
// Ours, neutral at zero: the share that overlaps with the computation (tensor_parallel_overlap).
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

[[nodiscard]] inline double all_reduces_per_layer(const Model& model, bool training, Recompute recompute) {
  const double passes = training ? (recompute == Recompute::full ? 3 : 2) : 1;
  return model.parts_per_layer() * passes;
}

template <typename T>
[[nodiscard]] double tensor_parallel_volume_bytes(const StageOfTask<T>& s) {
  const double tp = s.tensor_parallel();
  return s.task.element_bytes * s.work().micro_batch_sequences * s.work().sequence_tokens * s.model().hidden *
         2.0 * (tp - 1.0) / (tp * s.context_parallel());
}

// Returns the all-reduces of this stage over all its micro-batches.
template <typename T>
[[nodiscard]] double tensor_parallel_count(const StageOfTask<T>& s) {
  double count = all_reduces_per_layer(s.model(), s.is_training(), s.task.plan->recompute) * s.layers();
  if (s.model().vocabulary > 0 && s.is_first()) count += 1;
  if (s.model().vocabulary > 0 && s.is_last() && s.is_training()) count += 1;
  return count * s.work().micro_batches;
}

template <typename T>
[[nodiscard]] T tensor_parallel_s(const StageOfTask<T>& s) {
  if (s.tensor_parallel() < 2) return T(0.0);
  return tensor_parallel_count(s) *
         ring_step_s(s.problem, s.tensor_group(), tensor_parallel_volume_bytes(s),
                     within_nodes(s.problem.coefficient(CoefficientId::tensor_parallel_efficiency)));
}

// Returns its latency, which the host cannot hide.
template <typename T>
[[nodiscard]] T tensor_parallel_latency_s(const StageOfTask<T>& s) {
  if (s.tensor_parallel() < 2) return T(0.0);
  return tensor_parallel_count(s) * ring_step_s(s.problem, s.tensor_group(), 0.0, T(1.0));
}

}  // namespace sextant::terms
