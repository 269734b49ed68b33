#include "ask/plan/memory_risk.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/statistics.h"

namespace sextant {
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

std::optional<MemoryRisk> memory_risk_of(const Prediction& prediction) {
  std::optional<MemoryRisk> worst;
  for (const DeviceMemory& device : prediction.memory) {
    if (!device.trust) continue;
    const double probability = 1 - device.trust->fit_probability;
    if (worst && worst->probability >= probability) continue;
    const double deviation = device.needed_bytes() > 0
                                 ? std::log(device.trust->needed_bytes.high / device.needed_bytes()) / kNormal90
                                 : 0;
    worst = MemoryRisk{probability, deviation};
  }
  return worst;
}

}  // namespace sextant
