#include "costmodel/terms/stragglers.h"

#include <array>
#include <cmath>
#include <numbers>

#include "sextant/error.h"

namespace sextant::terms {
namespace {

// Inverse of the normal distribution function by Newton's steps, for p in [0.5, 1).
double normal_quantile(double p) {
  const double tail = 1.0 - p;
  double x = std::sqrt(-2.0 * std::log(2.0 * tail));  // above the root, so that steps fall to it
  for (int step = 0; step < 60; ++step) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    const double change = (0.5 * std::erfc(x / std::numbers::sqrt2) - tail) / density;
    x += change;
    if (std::abs(change) < 1e-14 * (1.0 + x)) break;
  }
  return x;
}

double blom(int n) { return n == 1 ? 0.0 : normal_quantile((n - 0.375) / (n + 0.25)); }

constexpr int kTabled = 256;

}  // namespace

double expected_largest(int n) {
  SEXTANT_CHECK(n >= 1);
  static const auto table = [] {
    std::array<double, kTabled> values{};
    for (int i = 0; i < kTabled; ++i) values[static_cast<std::size_t>(i)] = blom(i + 1);
    return values;
  }();
  return n <= kTabled ? table[static_cast<std::size_t>(n - 1)] : blom(n);
}

}  // namespace sextant::terms
