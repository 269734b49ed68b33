// Pipeline-parallel communication (HetRL B.2 "Pipeline parallelism communication").
//
//   cv_pp = B * mbs * (seq_in + seq_out) * h1
//   C_pp(t,i,j) = n * nm * min over d in stage j, d' in stage j+1 of (alpha + cv_pp / beta)
//
// n = 1 for a forward pass, 2 for forward and backward. The last stage sends nothing on. With v virtual stages
// a micro-batch crosses v times (Narayanan et al. 2021), one time less on the last stage.
//
// Frameworks that scatter (semantics.h) cut the volume into TP parts, sent in parallel and gathered after the
// transfer on the links of the next stage:  cv_pp / TP + cv_pp (TP - 1) / TP there.
// Ours, neutral at zero: with blocking transfers every edge is a rendezvous once a micro-batch, so a stage
// waits for the transfer before it too (pipeline_rendezvous_weight: the period of 1F1B is the largest sum of a
// stage's work and both its edges); and a fixed time of each transfer (pipeline_transfer_overhead_s).
#pragma once

#include <algorithm>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "documents/semantics.h"

namespace sextant::terms {

// A transfer of one micro-batch from one stage to another in parallel parts.
struct StageTransfer {
  double bytes = 0;  // sum over the parts
  double parts = 1;
  double gathered = 1;  // parts that the next stage gathers
};
template <typename T>
[[nodiscard]] StageTransfer stage_transfer(const StageOfTask<T>& s, const Stage& from, const Stage& to) {
  const double volume = s.task.element_bytes * s.work().micro_batch_sequences * s.work().sequence_tokens *
                        s.model().hidden / s.context_parallel();
  const double narrower = std::min(s.task.plan->tensor_parallel(from), s.task.plan->tensor_parallel(to));
  if (s.execution().sequence_parallel) return {volume, s.task.plan->tensor_parallel(from) * 1.0, 1};
  const bool scatters = semantics_of(s.execution().semantics).scatters_to_next_stage;
  return {volume, scatters ? narrower : 1, scatters ? narrower : 1};
}

// Seconds of one micro-batch from one stage to another, in one direction.
template <typename T>
[[nodiscard]] T stage_transfer_s(const StageOfTask<T>& s, const Stage& from, const Stage& to) {
  const auto [volume, parts, narrower] = stage_transfer(s, from, to);
  T time = fastest_transfer_s(s.problem, std::span<const DeviceId>(from.devices),
                              std::span<const DeviceId>(to.devices), volume / parts,
                              s.problem.coefficient(CoefficientId::pipeline_parallel_efficiency), parts) +
           s.problem.coefficient(CoefficientId::pipeline_transfer_overhead_s);
  if (narrower > 1) {
    const auto wide = static_cast<std::size_t>(s.task.plan->tensor_parallel(to));
    time += ring_step_s(s.problem, std::span<const DeviceId>(to.devices).first(wide),
                        volume * (narrower - 1.0) / narrower,
                        within_nodes(s.problem.coefficient(CoefficientId::tensor_parallel_efficiency)));
  }
  return time;
}

// Returns how often a stage sends to the next, both directions and all micro-batches.
template <typename T>
[[nodiscard]] double stage_transfers(const StageOfTask<T>& s) {
  return (s.is_training() ? 2.0 : 1.0) * s.work().micro_batches * s.execution().virtual_stages;
}

template <typename T>
[[nodiscard]] T pipeline_parallel_s(const StageOfTask<T>& s) {
  const std::vector<Stage>& stages = s.replica_plan().stages;
  if (stages.size() < 2) return T(0.0);
  const double chunks = s.execution().virtual_stages;
  T crossing(0.0);
  if (!s.is_last()) crossing += chunks * stage_transfer_s(s, s.stage_plan(), s.next_stage_plan());
  if (s.is_last() && chunks > 1)
    crossing += (chunks - 1.0) * stage_transfer_s(s, s.stage_plan(), stages.front());
  const T& rendezvous = s.problem.coefficient(CoefficientId::pipeline_rendezvous_weight);
  if (!s.is_first() && counts(rendezvous)) {
    crossing += chunks * rendezvous *
                stage_transfer_s(s, stages[static_cast<std::size_t>(s.stage) - 1], s.stage_plan());
  }
  const double directions = s.is_training() ? 2 : 1;
  return directions * s.work().micro_batches * crossing;
}

}  // namespace sextant::terms
