// Costs of parts from the costs of measured pairs.
//
// Each part in turn gets the cost that makes the sum of absolute errors smallest (so that a few wrong
// measurements do not matter), as in Tukey's median polish, but by any rule; errors are relative and count in
// units of their level's median error. A part of which too little is known, or which explains too little, gets
// no cost of its own, so that a fleet of like hosts has none.
#pragma once

#include <span>
#include <vector>

#include "probes/fleet/links/pair_parts.h"

namespace sextant {

struct CostSample {
  RankPair pair;
  double cost = 0;    // > 0
  double weight = 1;  // of its error
};

// Where the search begins: the sum of errors has several valleys.
enum class FitStart {
  usual,   // hosts cost nothing, what is between places its median: most hosts are alike
  fastest  // all cost what their fastest pair does: hosts are of several generations
};

struct FitKind {
  SegmentRule rule = SegmentRule::slowest;
  FitStart start = FitStart::usual;
  bool has_ends = true;  // uplinks and hosts; false: the places alone decide
};

// `samples` are of pairs whose classes the table knows; at least one.
[[nodiscard]] SegmentCosts fit_costs(const PartTable& table, std::span<const CostSample> samples,
                                     const FitKind& kind);

}  // namespace sextant
