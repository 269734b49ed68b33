#include "probes/schedule/tournament.h"

#include <algorithm>

namespace sextant::inline probes {

void remove_pairs(PairRounds& rounds, const std::set<RankPair>& pairs) {
  for (auto& round : rounds) {
    std::erase_if(round, [&](const RankPair& pair) { return pairs.contains(pair); });
  }
  std::erase_if(rounds, [](const auto& round) { return round.empty(); });
}

// With an odd number of ranks the last seat is empty, and who meets it rests.
int tournament_round_count(int ranks) { return ranks < 2 ? 0 : ranks + ranks % 2 - 1; }

std::vector<RankPair> tournament_round(int ranks, int round) {
  std::vector<RankPair> pairs;
  const int circle = tournament_round_count(ranks);
  const auto meet = [&](int a, int b) {
    if (std::max(a, b) < ranks) pairs.push_back({std::min(a, b), std::max(a, b)});
  };
  // The last seat stays; the others turn around it.
  meet(round, circle);
  for (int step = 1; step <= circle / 2; ++step) {
    meet((round + step) % circle, (round + circle - step) % circle);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

PairRounds tournament_rounds(int ranks) {
  PairRounds rounds;
  rounds.reserve(static_cast<std::size_t>(tournament_round_count(ranks)));
  for (int round = 0; round < tournament_round_count(ranks); ++round) {
    rounds.push_back(tournament_round(ranks, round));
  }
  return rounds;
}

}  // namespace sextant::inline probes
