// Which cost of one part fits the pairs that pass it best, all others being as they are.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "probes/fleet/links/pair_parts.h"

namespace sextant {

// A measured pair as seen from one of its parts.
struct SegmentView {
  double cost = 0;  // of the pair
  double rest = 0;  // of its other parts
  double weight = 1;
};

struct SegmentChoice {
  double cost = 0;
  double gain = 0;  // sum of weighted errors with `instead`, less that with this cost; >= 0
};

// |log(a / b)| to third order and at most 2, so that what is far off counts hardly more than what is off.
[[nodiscard]] inline double relative_error(double a, double b) { return 2 * std::abs(a - b) / (a + b); }

// Tries the costs that explain one of the pairs, at most 32 of them, against `instead`.
[[nodiscard]] SegmentChoice choose_cost(SegmentRule rule, std::span<const SegmentView> views, double instead);

}  // namespace sextant
