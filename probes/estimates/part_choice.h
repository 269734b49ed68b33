// Chooses the cost of one segment that fits its pairs best, with all others fixed.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "probes/estimates/pair_parts.h"

namespace sextant::inline probes {

// A measured pair, from the view of one of its segments.
struct SegmentView {
  double cost = 0;  // the pair's
  double rest = 0;  // sum of its other segments
  double weight = 1;
};

struct SegmentChoice {
  double cost = 0;
  double gain = 0;  // weighted errors with `instead` minus those with this cost; >= 0
};

// |log(a / b)| to third order and at most 2, so that far outliers count hardly more than others.
[[nodiscard]] inline double relative_error(double a, double b) { return 2 * std::abs(a - b) / (a + b); }

// Tries the costs that explain one of the pairs exactly, at most 32 of them, against `instead`.
[[nodiscard]] SegmentChoice choose_cost(SegmentRule rule, std::span<const SegmentView> views, double instead);

}  // namespace sextant::inline probes
