// The rate of matrix products: a share of the device's rate for each kind of task (prefill_efficiency,
// inference_efficiency, training_efficiency); arithmetic in 8 and 4 bits reaches less of its rate
// (fp8_efficiency, fp4_efficiency). Neutral: the measured rate.
#pragma once

#include "costmodel/problem/problem.h"

namespace sextant::terms {

[[nodiscard]] inline CoefficientId efficiency_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::generation:
      return CoefficientId::prefill_efficiency;
    case TaskKind::inference:
      return CoefficientId::inference_efficiency;
    case TaskKind::training:
      return CoefficientId::training_efficiency;
  }
  SEXTANT_CHECK(false);
  return CoefficientId::inference_efficiency;
}

// Returns the operands' precision in attention and head: the products', but no narrower than the workflow's.
template <typename T>
[[nodiscard]] Precision plain_precision(const StageOfTask<T>& s) {
  const Precision workflow = s.problem.workflow.precision;
  return bytes_per_element(s.task.precision) > bytes_per_element(workflow) ? s.task.precision : workflow;
}

// Returns the share of its rate that 8- and 4-bit arithmetic reaches, relative to the 16-bit share.
template <typename T>
[[nodiscard]] T narrow_share(const Problem<T>& problem, DeviceId d, Precision precision) {
  if (precision == Precision::fp8) return problem.coefficient(CoefficientId::fp8_efficiency, d);
  if (precision == Precision::fp4) return problem.coefficient(CoefficientId::fp4_efficiency, d);
  return T(1.0);
}

// FLOP/s that GEMMs of this precision reach on one device in this task.
template <typename T>
[[nodiscard]] T gemm_flop_per_s(const StageOfTask<T>& s, DeviceId d, Precision precision) {
  return s.problem.coefficient(efficiency_of(s.task.kind()), d) * narrow_share(s.problem, d, precision) *
         s.problem.hardware.flop_per_s(d, precision);
}

}  // namespace sextant::terms
