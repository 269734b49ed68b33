#include "probes/schedule/link_rounds.h"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

using Rounds = std::vector<std::vector<RankPair>>;

// The ranks of each host, hosts in the order of their first rank.
std::vector<std::vector<int>> ranks_by_host(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, std::size_t> number_of;
  std::vector<std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const auto [found, is_new] = number_of.try_emplace(host_of_rank[rank], ranks.size());
    if (is_new) ranks.emplace_back();
    ranks[found->second].push_back(static_cast<int>(rank));
  }
  return ranks;
}

// Adds every pair of these ranks, from the first round on.
void add_tournament(const std::vector<int>& ranks, Rounds& rounds) {
  const auto own = tournament_rounds(static_cast<int>(ranks.size()));
  rounds.resize(std::max(rounds.size(), own.size()));
  for (std::size_t round = 0; round < own.size(); ++round) {
    for (const RankPair& pair : own[round]) {
      rounds[round].push_back(
          {ranks[static_cast<std::size_t>(pair.low)], ranks[static_cast<std::size_t>(pair.high)]});
    }
  }
}

void erase_done(Rounds& rounds, const std::set<RankPair>& done) {
  for (auto& round : rounds) {
    std::erase_if(round, [&](const RankPair& pair) { return done.contains(pair); });
  }
  std::erase_if(rounds, [](const auto& round) { return round.empty(); });
}

}  // namespace

Rounds LinkRounds::in_order() const {
  Rounds all = between_nodes;
  all.insert(all.end(), within_nodes.begin(), within_nodes.end());
  return all;
}

LinkRounds schedule_links(const std::vector<std::string>& host_of_rank) {
  LinkRounds rounds;
  std::vector<int> firsts;
  for (const std::vector<int>& ranks : ranks_by_host(host_of_rank)) {
    firsts.push_back(ranks.front());
    add_tournament(ranks, rounds.within_nodes);
  }
  add_tournament(firsts, rounds.between_nodes);
  return rounds;
}

LinkRounds without(LinkRounds rounds, const std::set<RankPair>& done) {
  erase_done(rounds.between_nodes, done);
  erase_done(rounds.within_nodes, done);
  return rounds;
}

}  // namespace sextant
