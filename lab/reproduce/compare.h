// Compares the model's figures with the published ones, and explains differences as far as possible.
#pragma once

#include <vector>

#include "lab/reproduce/reproduction.h"
#include "lab/reproduce/study.h"

namespace sextant::inline lab {

// A figure agrees with a published range, or with a single published number, if it lies no further outside than
// a tolerance:
// - this share of the nearer end: 64.0 s agrees with 57.6 to 70.4 s, and 3.01 to 4.99x with 2.71 to 5.49x;
// - at an end of a ratio between 1/kSmallRatio and kSmallRatio, if the published value is a small gain or
// loss,
//   this share of the gain (the distance from one), or kMinTolerance if that is more: 1.20x agrees with
//   1.18 to 1.22x, not with 1.05x.
// A ratio on the other side of one than all published values disagrees however near it is.
inline constexpr double kAgreementShare = 0.1;
inline constexpr double kSmallRatio = 1.5;
// Two searches of the same plan differ by about this much.
inline constexpr double kMinTolerance = 0.01;

// Returns nullopt if a plan has no price for tokens_per_usd, or no such task.
[[nodiscard]] std::optional<double> measure_of(const Figure& figure, const ReproducedPlan& plan);

// Returns comparisons in the order of the figures, without those with a missing cell or contestant.
[[nodiscard]] std::vector<Comparison> compare(const std::vector<Figure>& figures,
                                              const std::vector<ReproducedCell>& cells);

// Returns whether `ours`, which must be set, agrees with the published value.
[[nodiscard]] bool is_agreeing(const Comparison& comparison);

// "ours 1.20x, published 1.40x: 1.17 times less", if `ours`, which must be set, disagrees.
[[nodiscard]] std::string stated_difference(const Comparison& comparison);

// "1.51 to 2.05 x", "64.0 s", "at most 14.9 s"
[[nodiscard]] std::string shown_published(const Comparison& comparison);
[[nodiscard]] std::string shown_ours(const Comparison& comparison);

}  // namespace sextant::inline lab
