// Pipeline-parallel communication (HetRL B.2 "Pipeline parallelism communication").
//
//   cv_pp = B * mbs * (seq_in + seq_out) * h1
//   C_pp(t,i,j) = n * nm * min over d in stage j, d' in stage j+1 of (alpha + cv_pp / beta)
//
// n = 1 for a forward pass, 2 for forward and backward. Nothing after the last stage.
#pragma once

#include "costmodel/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T pipeline_parallel_s(const StageOfTask<T>& s) {
  if (s.is_last()) return T(0.0);
  const double volume =
      s.task.element_bytes * s.work().micro_batch_sequences * s.task.sequence_tokens() * s.model().hidden;
  const double directions = s.is_training() ? 2 : 1;
  const Stage& next = s.replica_plan().stages[static_cast<std::size_t>(s.stage) + 1];
  return directions * s.work().micro_batches *
         fastest_transfer_s(s.problem, std::span<const DeviceId>(s.stage_plan().devices),
                            std::span<const DeviceId>(next.devices), volume,
                            s.problem.coefficient(CoefficientId::pipeline_parallel_efficiency));
}

}  // namespace sextant::terms
