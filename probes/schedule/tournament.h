// All pairs of ranks in rounds of disjoint pairs.
#pragma once

#include <vector>

namespace sextant {

struct RankPair {
  int low = 0;
  int high = 0;  // > low

  friend bool operator==(const RankPair&, const RankPair&) = default;
  friend auto operator<=>(const RankPair&,
                          const RankPair&) = default;  // NOLINT(modernize-use-nullptr): its own
};

// Returns one round of the tournament below, 0 <= round < tournament_round_count(ranks), without the others.
[[nodiscard]] std::vector<RankPair> tournament_round(int ranks, int round);
// Returns 0 for fewer than two ranks.
[[nodiscard]] int tournament_round_count(int ranks);

// Round-robin tournament by the circle method (Kirkman, 1847): every pair exactly once, no rank twice in a
// round; ranks - 1 rounds for an even number of ranks and `ranks` rounds for an odd one (one rank rests in
// each). Fewer than two ranks: no rounds.
[[nodiscard]] std::vector<std::vector<RankPair>> tournament_rounds(int ranks);

}  // namespace sextant
