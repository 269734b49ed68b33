// All pairs of ranks in rounds of disjoint pairs.
#pragma once

#include <set>
#include <vector>

namespace sextant::inline probes {

struct RankPair {
  int low = 0;
  int high = 0;  // > low

  friend bool operator==(const RankPair&, const RankPair&) = default;
  friend auto operator<=>(const RankPair&,
                          const RankPair&) = default;  // NOLINT(modernize-use-nullptr): its own
};

// Rounds of disjoint pairs, which are measured at the same time.
using PairRounds = std::vector<std::vector<RankPair>>;

// Removes pairs, and the rounds that become empty.
void remove_pairs(PairRounds& rounds, const std::set<RankPair>& pairs);

// Returns one round of the tournament below, 0 <= round < tournament_round_count(ranks), without the others.
[[nodiscard]] std::vector<RankPair> tournament_round(int ranks, int round);
// Returns 0 for fewer than two ranks.
[[nodiscard]] int tournament_round_count(int ranks);

// Round-robin tournament by the circle method (Kirkman, 1847): every pair exactly once, no rank twice in a
// round; ranks - 1 rounds for an even number of ranks and `ranks` rounds for an odd one (one rank rests in
// each). Fewer than two ranks: no rounds.
[[nodiscard]] PairRounds tournament_rounds(int ranks);

}  // namespace sextant::inline probes
