#include "probes/link/tournament.h"

#include <algorithm>

namespace sextant {

std::vector<std::vector<RankPair>> tournament_rounds(int ranks) {
  std::vector<std::vector<RankPair>> rounds;
  if (ranks < 2) return rounds;
  // With an odd number of ranks the last seat is empty, and who meets it rests.
  const int seats = ranks + ranks % 2;
  const int circle = seats - 1;
  for (int round = 0; round < circle; ++round) {
    std::vector<RankPair> pairs;
    const auto meet = [&](int a, int b) {
      if (std::max(a, b) < ranks) pairs.push_back({std::min(a, b), std::max(a, b)});
    };
    // The last seat stays; the others turn around it.
    meet(round, seats - 1);
    for (int step = 1; step < seats / 2; ++step) {
      meet((round + step) % circle, (round + circle - step) % circle);
    }
    std::sort(pairs.begin(), pairs.end());
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

}  // namespace sextant
