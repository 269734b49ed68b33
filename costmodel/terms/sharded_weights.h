// Gathering of sharded weights (ZeRO stage 3, FSDP): not in the appendix, whose replicas hold their weights.
//
//   cv_gather(t,j) = B * P_j / TP_j * (n - 1) / n,   n replicas times context-parallel parts, or sharded_over
//   C_gather = passes * nm * ring step
//
// Every forward and every backward pass of a micro-batch gathers the weights of the stage (Rajbhandari et al.
// 2020, section 7; PyTorch FSDP). weight_gather_overlap: the share that overlaps with the computation.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/data_parallel.h"
#include "costmodel/terms/smooth.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T weight_gather_s(const StageOfTask<T>& s, const T& compute_s) {
  if (s.execution().zero_stage < 3 || s.is_generation()) return T(0.0);
  const LinkEfficiency<T> reached =
      within_nodes(s.problem.coefficient(CoefficientId::data_parallel_efficiency));
  T slowest(0.0);
  int first_layer = 0;
  for (int j = 0; j < s.stage; ++j) first_layer += s.replica_plan().stages[static_cast<std::size_t>(j)].layers;
  for (const GradientGroup& group : s.task.sharding_groups()) {
    if (group.first_layer < first_layer || group.first_layer >= first_layer + s.stage_plan().layers) continue;
    const double n = static_cast<double>(group.members.size());
    const double width = expert_width(s.execution(), s.tensor_parallel());
    const double experts = s.layers() * s.model().layer_expert_parameters();
    const double holders = std::max(1.0, n * s.tensor_parallel() / width);
    const double dealt = (s.parameters() - experts) / s.tensor_parallel() * (n - 1.0) / n +
                         experts / width * (holders - 1.0) / holders;
    const double volume = s.task.moved_weight_bytes() * dealt;
    const T cost = ring_step_s(s.problem, group, volume, reached);
    if (slowest < cost) slowest = cost;
  }
  const double gathers = (s.is_training() ? 2.0 : 1.0) * s.work().micro_batches;
  return exposed(T(gathers * slowest), compute_s, s.problem.coefficient(CoefficientId::weight_gather_overlap));
}

}  // namespace sextant::terms
