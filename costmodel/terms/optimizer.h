// Optimizer step: not in the appendix, neutral at zero.
//
// Adam reads parameter, gradient and two moments and writes parameter and moments, all in fp32: seven passes
// of four bytes over the parameters that a device holds, once a mini-batch.
#pragma once

#include "costmodel/problem.h"

namespace sextant::terms {

inline constexpr double kAdamBytesPerParameter = 7 * 4.0;

template <typename T>
[[nodiscard]] T optimizer_s(const StageOfTask<T>& s) {
  const double bytes = s.task.mini_batches * kAdamBytesPerParameter * s.parameters() / s.tensor_parallel();
  return max_over_devices<T>(s.stage_plan(), [&](DeviceId d) {
    return T(s.problem.coefficient(CoefficientId::optimizer_traffic_weight, d) * bytes /
             s.problem.hardware.memory_bytes_per_s(d));
  });
}

}  // namespace sextant::terms
