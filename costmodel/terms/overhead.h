// Fixed times: not in the appendix, neutral at zero.
#pragma once

#include "costmodel/problem.h"
#include "costmodel/terms/compute.h"

namespace sextant::terms {

// Of one stage: a layer of a micro-batch in each pass.
template <typename T>
[[nodiscard]] T layer_overhead_s(const StageOfTask<T>& s) {
  const T count = s.work().micro_batches * s.layers() * passes(s);
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(count * s.problem.coefficient(CoefficientId::layer_overhead_s, d));
  });
}

// Of a replica in a task.
template <typename T>
[[nodiscard]] T task_overhead_s(const Problem<T>& problem, const TaskWork& task, const ReplicaWork& work) {
  return task.mini_batches * problem.coefficient(CoefficientId::task_overhead_s) +
         work.sequences * problem.coefficient(CoefficientId::sequence_overhead_s);
}

}  // namespace sextant::terms
