// Pipeline bubbles (HetRL B.2 "Pipeline bubbles").
//
//   C_bubble(t,i) = sum over j != 0 of (C_comp(t,i,j) + C_tp(t,i,j) + C_pp(t,i,j)) / nm
//
// The sum is the time of one micro-batch in every later stage; a pipeline fills and drains once a
// mini-batch, so it counts mini_batches times. Inference and prefill fill a pipeline too, which the appendix
// leaves out: pipeline_fill_weight, neutral at zero.
#pragma once

#include <vector>

#include "costmodel/problem.h"

namespace sextant::terms {

// stage_s: C_comp + C_tp + C_pp of each stage of the replica, over all nm micro-batches.
template <typename T>
[[nodiscard]] T bubble_s(const Problem<T>& problem, const TaskWork& task, const ReplicaWork& work,
                         const std::vector<T>& stage_s) {
  T later(0.0);
  for (std::size_t j = 1; j < stage_s.size(); ++j) later += stage_s[j];
  const T per_micro_batch = later / work.micro_batches;
  if (task.kind() == TaskKind::training) return task.mini_batches * per_micro_batch;
  return problem.coefficient(CoefficientId::pipeline_fill_weight) * per_micro_batch;
}

}  // namespace sextant::terms
