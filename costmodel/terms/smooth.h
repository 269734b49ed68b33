// Smooth maxima and the time that overlap leaves, for activities that run in parallel.
#pragma once

#include <cmath>

namespace sextant::terms {

// The time of two overlapping activities that take a and b seconds (both >= 0). sharing 0: one after the other,
// a + b. sharing 1: full overlap, max(a, b). Between, the p-norm with p = 1 / (1 - sharing), which is smooth if
// the two are equal. Exactly a if b is zero.
template <typename T>
[[nodiscard]] T beside(const T& a, const T& b, const T& sharing) {
  using std::exp;
  using std::log;
  const T& large = a < b ? b : a;
  const T& small = a < b ? a : b;
  if (!(small > T(0.0))) return large;
  constexpr double kMaxSharing = 0.95;  // p = 20: a kink that a fit can still follow
  const T share = sharing < T(kMaxSharing) ? sharing : T(kMaxSharing);
  if (!(share > T(0.0))) {
    // The exact sum, with the slope by which it begins to fall.
    return a + b + share * (large * log(large / (a + b)) + small * log(small / (a + b)));
  }
  const T p = T(1.0) / (T(1.0) - share);
  return large * exp(log(T(1.0) + exp(p * log(small / large))) / p);
}

// The part of `transfer` that the parallel `work` does not hide; `overlap` is how well they run together (0:
// not at all). Never below (1 - overlap) * transfer.
template <typename T>
[[nodiscard]] T exposed(const T& transfer, const T& work, const T& overlap) {
  using std::sqrt;
  if (!(transfer > T(0.0)) || !(work > T(0.0))) return transfer;
  // Harmonic form of min(transfer, work) with p = 4.
  const T a = transfer * transfer, b = work * work;
  const T hidden = transfer * work / sqrt(sqrt(a * a + b * b));
  return transfer - overlap * hidden;
}

}  // namespace sextant::terms
