// All pairs of a job's ranks in rounds, nodes first.
//
// Ranks of one node share its adapters: if all of them were measured with all of another node at once, each
// pair would get a share of the rate. So first every pair of nodes is measured by one rank of each, in rounds
// of disjoint pairs of nodes (N - 1 rounds for an even number N of nodes); then the ranks of each node among
// themselves, all nodes at the same time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/schedule/tournament.h"

namespace sextant {

struct LinkRounds {
  std::vector<std::vector<RankPair>> between_nodes;
  std::vector<std::vector<RankPair>> within_nodes;

  // Returns all rounds one after another.
  [[nodiscard]] std::vector<std::vector<RankPair>> in_order() const;
};

// The first rank of a node represents it.
[[nodiscard]] LinkRounds schedule_links(const std::vector<std::string>& host_of_rank);

// Returns the rounds without these pairs, and without rounds that became empty.
[[nodiscard]] LinkRounds without(LinkRounds rounds, const std::set<RankPair>& done);

}  // namespace sextant
