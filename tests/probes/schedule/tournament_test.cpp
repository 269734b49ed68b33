#include "probes/schedule/tournament.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sextant {
namespace {

class Tournament : public testing::TestWithParam<int> {};

TEST_P(Tournament, EveryPairMeetsExactlyOnce) {
  const int ranks = GetParam();
  std::map<RankPair, int> meetings;
  for (const auto& round : tournament_rounds(ranks)) {
    for (const RankPair& pair : round) {
      EXPECT_GE(pair.low, 0);
      EXPECT_LT(pair.low, pair.high);
      EXPECT_LT(pair.high, ranks);
      ++meetings[pair];
    }
  }
  EXPECT_EQ(meetings.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
  for (const auto& [pair, times] : meetings) EXPECT_EQ(times, 1) << pair.low << " and " << pair.high;
}

TEST_P(Tournament, NobodyPlaysTwiceInARound) {
  for (const auto& round : tournament_rounds(GetParam())) {
    std::set<int> seen;
    for (const RankPair& pair : round) {
      EXPECT_TRUE(seen.insert(pair.low).second);
      EXPECT_TRUE(seen.insert(pair.high).second);
    }
  }
}

TEST_P(Tournament, HasTheFewestRounds) {
  const int ranks = GetParam();
  const int expected = ranks < 2 ? 0 : ranks - 1 + ranks % 2;
  EXPECT_EQ(tournament_rounds(ranks).size(), static_cast<std::size_t>(expected));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Tournament, testing::Values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64));

TEST(RemovePairs, LeavesNoEmptyRound) {
  PairRounds rounds = {{{0, 2}, {1, 3}}, {{0, 1}}, {{2, 3}}};
  remove_pairs(rounds, {{0, 2}, {0, 1}});
  EXPECT_EQ(rounds, (PairRounds{{{1, 3}}, {{2, 3}}}));
}

}  // namespace
}  // namespace sextant
