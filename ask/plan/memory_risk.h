// The risk of running out of memory, as the fraction of the memory that a search may fill.
#pragma once

#include <optional>

#include "sextant/prediction.h"

namespace sextant {

inline constexpr double kUsualRisk = 0.05;

// Returns the fraction of the memory that a need may take to exceed all of it with the probability `risk`, if
// its logarithm has this standard deviation: exp(-z deviation), z the quantile 1 - risk of the normal
// distribution. At most 1. 0 < risk < 1.
[[nodiscard]] double share_for_risk(double risk, double log_deviation);

// The device with the highest risk: the probability that it runs out of memory, and the deviation of the
// logarithm of its need. Absent if the prediction was not qualified (sextant/trust.h).
struct MemoryRisk {
  double probability = 0;
  double log_deviation = 0;
};
[[nodiscard]] std::optional<MemoryRisk> memory_risk_of(const Prediction& prediction);

}  // namespace sextant
