// The rate of arithmetic in prefill and decoding, and its overlap with memory traffic.
//
// A kernel takes the longer of its arithmetic and its traffic (Williams et al. 2009, the roofline), smoothly;
// roofline_sharing 0, the appendix, is their sum. The supply of the matrix units - power, caches, registers -
// grows more slowly from device to device and from format to format than their peak, so the reached share
// falls: as (peak / 3e14 FLOP/s)^-peak_rate_exponent, relative to a device of about 300 TFLOP/s.
#pragma once

#include <cmath>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/gemm_rate.h"

namespace sextant::terms {

template <typename T>
[[nodiscard]] T reached_flop_per_s(const StageOfTask<T>& s, DeviceId d, Precision precision) {
  using std::exp;
  using std::log;
  constexpr double kReference = 3e14;
  const T& peak = s.problem.hardware.flop_per_s(d, precision);
  const T trend = exp(-s.problem.coefficient(CoefficientId::peak_rate_exponent) * log(peak / kReference));
  return trend * narrow_share(s.problem, d, precision) * peak;
}

}  // namespace sextant::terms
