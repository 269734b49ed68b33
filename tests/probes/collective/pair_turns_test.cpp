#include "probes/collective/pair_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sextant {
namespace {

std::vector<std::string> hosts(int count, int each) {
  std::vector<std::string> names;
  for (int rank = 0; rank < count * each; ++rank) names.push_back("node" + std::to_string(rank / each));
  return names;
}

void expect_all_pairs_undisturbed(const std::vector<std::string>& host_of_rank) {
  std::set<RankPair> seen;
  for (const auto& turn : pair_turns(host_of_rank)) {
    std::multiset<std::string> busy;
    for (const RankPair& pair : turn) {
      EXPECT_TRUE(seen.insert(pair).second);
      const std::string& low = host_of_rank[static_cast<std::size_t>(pair.low)];
      const std::string& high = host_of_rank[static_cast<std::size_t>(pair.high)];
      busy.insert(low);
      if (high != low) busy.insert(high);
    }
    EXPECT_EQ(std::set<std::string>(busy.begin(), busy.end()).size(), busy.size());
    EXPECT_FALSE(turn.empty());
  }
  EXPECT_EQ(seen.size(), host_of_rank.size() * (host_of_rank.size() - 1) / 2);
}

TEST(PairTurns, HaveEveryPairOnceAndNoHostTwice) {
  for (const int count : {1, 2, 3, 5}) {
    for (const int each : {1, 2, 3, 8}) expect_all_pairs_undisturbed(hosts(count, each));
  }
  expect_all_pairs_undisturbed({"a", "b", "a", "a", "c"});
}

TEST(PairTurns, GoOneAfterAnotherOnOneHost) {
  const auto turns = pair_turns(hosts(1, 4));
  EXPECT_EQ(turns.size(), 6U);
}

TEST(PairTurns, OfSingleRanksAreTournamentRounds) { EXPECT_EQ(pair_turns(hosts(6, 1)).size(), 5U); }

TEST(PairTurns, OfOneRankAreNone) { EXPECT_TRUE(pair_turns({"a"}).empty()); }

}  // namespace
}  // namespace sextant
