// Fits the costs of path segments to the costs of measured pairs.
//
// Each segment in turn gets the cost that minimises the sum of absolute errors (so that a few wrong
// measurements do not matter), as in Tukey's median polish, but with any rule; errors are relative and in units
// of their level's median error. A segment with too little data, or which explains too little, gets no cost of
// its own, so that a fleet of equal hosts has none.
#pragma once

#include <span>
#include <vector>

#include "probes/estimates/pair_parts.h"

namespace sextant::inline probes {

struct CostSample {
  RankPair pair;
  double cost = 0;    // > 0
  double weight = 1;  // weight of its error
};

// The start of the search: the sum of errors has several minima.
enum class FitStart {
  usual,   // hosts cost nothing, the network between places its median: most hosts are alike
  fastest  // all cost the minimum over their pairs: hosts are of several generations
};

struct FitKind {
  SegmentRule rule = SegmentRule::slowest;
  FitStart start = FitStart::usual;
  bool has_ends = true;  // uplinks and hosts; false: only the places
};

// `samples` are pairs whose classes the table has; at least one.
[[nodiscard]] SegmentCosts fit_costs(const PartTable& table, std::span<const CostSample> samples,
                                     const FitKind& kind);

}  // namespace sextant::inline probes
