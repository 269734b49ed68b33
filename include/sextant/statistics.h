// Statistics for measurements and predictions. All functions need at least one sample.
#pragma once

#include <span>
#include <vector>

namespace sextant {

inline constexpr double kNormal90 = 1.6449;        // two-sided 90 % quantile of the normal distribution
inline constexpr double kMedianOfNormal = 0.6745;  // median of the absolute value, in standard deviations

[[nodiscard]] double mean(std::span<const double> samples);
[[nodiscard]] double median(std::span<const double> samples);

// Linear interpolation between order statistics (Hyndman and Fan's type 7); q in [0, 1].
[[nodiscard]] double quantile(std::span<const double> samples, double q);

// Sample standard deviation (n - 1); 0 for one sample.
[[nodiscard]] double standard_deviation(std::span<const double> samples);

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Distribution-free confidence interval of the median from order statistics (binomial, p = 1/2). It is the
// whole range if there are too few samples for the requested confidence.
[[nodiscard]] Interval median_interval(std::span<const double> samples, double confidence = 0.95);

// Half the width of median_interval divided by the median: the spread that documents store.
[[nodiscard]] double relative_spread(std::span<const double> samples, double confidence = 0.95);

// For alternatives measured in turns, samples[alternative][round]: the median time of each, after division by a
// factor per round (a slow phase of the machine affects all alternatives). The factor of a round is the median
// over the alternatives of sample / median. Rounds that some alternative lacks are left out.
[[nodiscard]] std::vector<double> medians_in_rounds(std::span<const std::vector<double>> samples);

// Spearman's rank correlation with mean ranks for ties; 0 when either side is constant.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

// Kendall's tau-b: pairs in the same order minus pairs in opposite order, divided by the square root of the
// product of the untied pairs of each side; 0 if either side is constant.
[[nodiscard]] double kendall_tau(std::span<const double> a, std::span<const double> b);

}  // namespace sextant
