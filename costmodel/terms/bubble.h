// Pipeline bubbles (HetRL B.2 "Pipeline bubbles").
//
//   C_bubble(t,i) = sum over j != 0 of (C_comp(t,i,j) + C_tp(t,i,j) + C_pp(t,i,j)) / nm
//
// The sum is the time of one micro-batch in every later stage; a pipeline fills and drains once per mini-batch
// (more often if a framework splits its micro-batches, semantics.h), so the sum is multiplied by that number.
// With stages of unequal speed the appendix counts a slow later stage twice and omits the first one: the time
// before and after the slowest stage's own work is one micro-batch in each of the others.
// bubble_slowest_weight moves from the appendix (0, neutral) to the sum over all stages but the slowest (1).
// Inference and prefill fill a pipeline too, which the appendix leaves out: pipeline_fill_weight, neutral at
// zero, on all stages but the slowest. With v virtual stages the bubble is a v-th of it (Narayanan et al. 2021,
// section 2.2).
#pragma once

#include <vector>

#include "costmodel/problem/problem.h"

namespace sextant::terms {

// stage_s: C_comp + C_tp + C_pp of each stage of the replica, over all passes of micro-batches.
template <typename T>
[[nodiscard]] T bubble_s(const Problem<T>& problem, const TaskWork& task, const ReplicaWork& work,
                         const std::vector<T>& stage_s) {
  T sum(0.0), slowest(0.0);
  for (const T& stage : stage_s) {
    sum += stage;
    if (slowest < stage) slowest = stage;
  }
  const double passes = task.kind() == TaskKind::generation ? work.prefill_passes : work.micro_batches;
  const double chunks = task.execution().virtual_stages;
  const T others_s = (sum - slowest) / (passes * chunks);
  if (task.kind() != TaskKind::training)
    return work.flushes * problem.coefficient(CoefficientId::pipeline_fill_weight) * others_s;
  T later(0.0);
  for (std::size_t j = 1; j < stage_s.size(); ++j) later += stage_s[j];
  const T later_s = later / (passes * chunks);
  return work.flushes *
         (later_s + problem.coefficient(CoefficientId::bubble_slowest_weight) * (others_s - later_s));
}

}  // namespace sextant::terms
