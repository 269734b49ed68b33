#include "core/tails.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/error.h"

namespace sextant::inline core {
namespace {

constexpr int kMaxSummed = 200;  // degrees of freedom

// P(|T| < t): 26.7.3 for odd degrees, 26.7.4 for even ones.
double student_within(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (int factor = is_odd ? 2 : 1; factor + 1 < degrees - (is_odd ? 1 : 0); factor += 2) {
    term *= cosine * cosine * factor / (factor + 1);
    sum += term;
  }
  const double sine_sum = std::sin(angle) * sum;
  return is_odd ? 2 / std::numbers::pi * (angle + sine_sum) : sine_sum;
}

}  // namespace

double normal_tail(double deviations) { return std::erfc(std::abs(deviations) / std::numbers::sqrt2); }

double normal_deviations(double tail) {
  SEXTANT_CHECK(tail > 0 && tail <= 1);
  double x = std::sqrt(-2 * std::log(tail));  // above the root, so that steps fall to it
  for (int step = 0; step < 60; ++step) {
    const double slope = std::exp(-0.5 * x * x) * std::sqrt(2 / std::numbers::pi);
    const double change = (normal_tail(x) - tail) / slope;
    x = std::max(0.0, x + change);
    if (std::abs(change) < 1e-13 * (1 + x)) break;
  }
  return x;
}

double student_tail(double t, int degrees) {
  SEXTANT_CHECK(degrees >= 1);
  t = std::abs(t);
  if (degrees <= kMaxSummed) return std::max(0.0, 1 - student_within(t, degrees));
  const double nu = degrees;
  return normal_tail(t * (1 - 0.25 / nu) / std::sqrt(1 + t * t / (2 * nu)));
}

}  // namespace sextant::inline core
