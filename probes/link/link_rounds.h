// All pairs of a job's ranks in rounds, nodes first.
//
// Ranks of one node share its adapters: were all of them measured with all of another node at once, each pair
// would have a share of the rate. So first every pair of nodes is measured by one rank of each, in rounds of
// disjoint pairs of nodes (N - 1 rounds for an even number N of nodes); then the ranks of each node among
// themselves, all nodes at the same time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/link/tournament.h"

namespace sextant {

struct LinkRounds {
  std::vector<std::vector<RankPair>> between_nodes;
  std::vector<std::vector<RankPair>> within_nodes;

  // One after another.
  [[nodiscard]] std::vector<std::vector<RankPair>> in_order() const;
};

// The first rank of a node stands for it.
[[nodiscard]] LinkRounds schedule_links(const std::vector<std::string>& host_of_rank);

// What is left of them without these pairs; rounds that are empty then are gone.
[[nodiscard]] LinkRounds without(LinkRounds rounds, const std::set<RankPair>& done);

}  // namespace sextant
