// The model's figures beside the published ones, and why they differ as far as the predictions show it.
#pragma once

#include <vector>

#include "lab/reproduce/reproduction.h"
#include "lab/reproduce/study.h"

namespace sextant {

// A figure agrees with a published range, or with a single published number, where it lies no further outside
// than a tolerance:
// - this share of the nearer end: 64.0 s agrees with 57.6 to 70.4 s, and 3.01 to 4.99x with 2.71 to 5.49x;
// - at an end of a ratio between 1/kSmallRatio and kSmallRatio, where what is published is a small gain or
// loss,
//   this share of the gain (the distance from one), or kMinTolerance where that is more: 1.20x agrees with
//   1.18 to 1.22x, not with 1.05x.
// A ratio on the other side of one than all that is published disagrees however near it is.
inline constexpr double kAgreementShare = 0.1;
inline constexpr double kSmallRatio = 1.5;
// Two searches of the same plan differ by about this much.
inline constexpr double kMinTolerance = 0.01;

// Nothing where a plan has no price for tokens_per_usd, or no such task.
[[nodiscard]] std::optional<double> measure_of(const Figure& figure, const ReproducedPlan& plan);

// In the order of the figures; those with a cell that was not run, or a contestant that it lacks, are left out.
[[nodiscard]] std::vector<Comparison> compare(const std::vector<Figure>& figures,
                                              const std::vector<ReproducedCell>& cells);

// Returns whether `ours`, which must be there, agrees with what is published.
[[nodiscard]] bool is_agreeing(const Comparison& comparison);

// "1.51 to 2.05 x", "64.0 s", "at most 14.9 s"
[[nodiscard]] std::string shown_published(const Comparison& comparison);
[[nodiscard]] std::string shown_ours(const Comparison& comparison);

}  // namespace sextant
