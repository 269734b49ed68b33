#include "ask/memory_risk.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::inline ask {
namespace {

// The quantile of the normal distribution: the z that is exceeded with this probability.
double exceeded_with(double probability) {
  double low = -10, high = 10;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(middle / std::numbers::sqrt2) > probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double share_for_risk(double risk, double log_deviation) {
  return std::min(1.0, std::exp(-exceeded_with(risk) * log_deviation));
}

}  // namespace sextant::inline ask
