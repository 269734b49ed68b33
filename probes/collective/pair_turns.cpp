#include "probes/collective/pair_turns.h"

#include <set>

namespace sextant {

std::vector<std::vector<RankPair>> pair_turns(const std::vector<std::string>& host_of_rank) {
  const auto host = [&](int rank) { return host_of_rank[static_cast<std::size_t>(rank)]; };
  std::vector<std::vector<RankPair>> turns;
  for (const auto& round : tournament_rounds(static_cast<int>(host_of_rank.size()))) {
    // The pairs of a round share no rank; its turns start where it does.
    std::vector<std::set<std::string>> busy;
    const std::size_t first = turns.size();
    for (const RankPair& pair : round) {
      std::size_t turn = 0;
      while (turn < busy.size() &&
             (busy[turn].contains(host(pair.low)) || busy[turn].contains(host(pair.high)))) {
        ++turn;
      }
      if (turn == busy.size()) {
        busy.emplace_back();
        turns.emplace_back();
      }
      busy[turn].insert({host(pair.low), host(pair.high)});
      turns[first + turn].push_back(pair);
    }
  }
  return turns;
}

}  // namespace sextant
