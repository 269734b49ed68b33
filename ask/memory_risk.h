// The risk of running out of memory, as the fraction of the memory that a search may fill.
#pragma once

namespace sextant::inline ask {

inline constexpr double kUsualRisk = 0.05;

// Returns the fraction of the memory that a need may take to exceed all of it with the probability `risk`, if
// its logarithm has this standard deviation: exp(-z deviation), z the quantile 1 - risk of the normal
// distribution. At most 1. 0 < risk < 1.
[[nodiscard]] double share_for_risk(double risk, double log_deviation);

}  // namespace sextant::inline ask
