// How sure a plan must be to fit: a risk becomes the part of the memory that a search may fill.
#pragma once

#include <optional>

#include "sextant/prediction.h"

namespace sextant::cli {

inline constexpr double kUsualRisk = 0.05;

// The part of the memory that a need may take, whose logarithm has this standard deviation, to exceed all of it
// with the probability `risk`: exp(-z deviation), z the quantile 1 - risk of the normal distribution. At
// most 1. 0 < risk < 1.
[[nodiscard]] double share_for_risk(double risk, double log_deviation);

// Of the device that is least sure to fit: the probability that it does not, and the deviation of the logarithm
// of its need. Nothing where the prediction was not qualified (sextant/trust.h).
struct MemoryRisk {
  double probability = 0;
  double log_deviation = 0;
};
[[nodiscard]] std::optional<MemoryRisk> memory_risk_of(const Prediction& prediction);

}  // namespace sextant::cli
