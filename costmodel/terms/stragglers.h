// Waiting for the slowest: not in the appendix, neutral at zero.
//
// The times of devices with the same work differ from one iteration to the next, and every participant of a
// reduction or of a task's end waits for the last. If times are normal around their mean with a relative
// deviation sigma (straggler_spread), the last of n devices is expected at
//   1 + sigma * m(n),   m(n) = Phi^-1((n - 3/8) / (n + 1/4))      (Blom 1958)
// of the mean; m(1) = 0, m(2) = 0.59 (exactly 0.56), m(1000) = 3.2.
#pragma once

#include "costmodel/problem/problem.h"

namespace sextant::terms {

// m(n): expected largest of n standard normal numbers, n >= 1.
[[nodiscard]] double expected_largest(int n);

// Returns the time that waiting adds to `work_s`, the time of the slowest replica on devices without spread.
template <typename T>
[[nodiscard]] T stragglers_s(const Problem<T>& problem, const TaskWork& task, const T& work_s) {
  const double largest = expected_largest(static_cast<int>(task.devices.size()));
  return largest * problem.coefficient(CoefficientId::straggler_spread) * work_s;
}

}  // namespace sextant::terms
