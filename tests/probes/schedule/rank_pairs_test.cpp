#include "probes/schedule/rank_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RoundsOfRanks, HaveNodesFirstThenTheRanksOfEach) {
  const PairRounds rounds = rounds_of_ranks({"a", "a", "b", "b", "c", "c", "d", "d"});
  ASSERT_EQ(rounds.size(), 3U + 1U);  // N - 1, and one within all nodes
  std::set<RankPair> pairs;
  for (std::size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(rounds[round].size(), 2U);  // every node in each
    pairs.insert(rounds[round].begin(), rounds[round].end());
  }
  EXPECT_THAT(pairs, ElementsAre(RankPair{0, 2}, RankPair{0, 4}, RankPair{0, 6}, RankPair{2, 4}, RankPair{2, 6},
                                 RankPair{4, 6}));
  EXPECT_THAT(rounds[3], ElementsAre(RankPair{0, 1}, RankPair{2, 3}, RankPair{4, 5}, RankPair{6, 7}));
}

TEST(RoundsOfRanks, OneNodeHasItsOwnPairsAndOneRankEachOnlyNodes) {
  EXPECT_EQ(rounds_of_ranks({"a", "a", "a"}).size(), 3U);
  EXPECT_THAT(rounds_of_ranks({"a", "b"}), ElementsAre(ElementsAre(RankPair{0, 1})));
  EXPECT_THAT(rounds_of_ranks({}), IsEmpty());
}

TEST(RoundsOfRanks, NeedNoRanksNumberedHostByHost) {
  EXPECT_THAT(rounds_of_ranks({"a", "b", "a", "b"}),
              ElementsAre(ElementsAre(RankPair{0, 1}), ElementsAre(RankPair{0, 2}, RankPair{1, 3})));
}

std::vector<std::string> hosts(int count, int each) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(each));
  for (int rank = 0; rank < count * each; ++rank) names.push_back("node" + std::to_string(rank / each));
  return names;
}

std::vector<std::vector<RankPair>> all_turns(const PairTurns& turns) {
  std::vector<std::vector<RankPair>> all;
  for (std::size_t index = 0; index < turns.count(); ++index) all.push_back(turns.turn(index));
  return all;
}

void expect_all_pairs_undisturbed(const std::vector<std::string>& host_of_rank) {
  std::set<RankPair> seen;
  const PairTurns turns(host_of_rank);
  for (const auto& turn : all_turns(turns)) {
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
  EXPECT_EQ(turns.pair_count(), seen.size());
}

TEST(PairTurns, HaveEveryPairOnceAndNoHostTwice) {
  for (const int count : {1, 2, 3, 4, 5}) {
    for (const int each : {1, 2, 3, 8}) expect_all_pairs_undisturbed(hosts(count, each));
  }
  expect_all_pairs_undisturbed({"a", "b", "a", "a", "c"});
  expect_all_pairs_undisturbed({"a", "a", "b", "b", "b", "c"});
}

TEST(PairTurns, GoOneAfterAnotherOnOneHost) {
  const PairTurns turns(hosts(1, 4));
  EXPECT_EQ(turns.count(), 6U);
  EXPECT_EQ(turns.min_count(), 1U);
}

TEST(PairTurns, OfSingleRanksAreTournamentRounds) {
  const PairTurns turns(hosts(6, 1));
  EXPECT_EQ(turns.count(), 5U);
  EXPECT_EQ(turns.first_count(), 5U);
  EXPECT_EQ(turns.min_count(), 1U);
}

// The numbers of probes/README.md.
TEST(PairTurns, AreAsManyAsStated) {
  EXPECT_EQ(PairTurns(hosts(1, 8)).count(), 28U);
  EXPECT_EQ(PairTurns(hosts(2, 8)).count(), 92U);
  EXPECT_EQ(PairTurns(hosts(16, 8)).count(), 988U);
}

TEST(PairTurns, OfOneRankAreNone) {
  EXPECT_EQ(PairTurns({"a"}).count(), 0U);
  EXPECT_EQ(PairTurns({}).count(), 0U);
}

// Ranks 2 k and 2 k + 1 of a host are bridged.
std::string bridged(int low, int high) { return low / 2 == high / 2 ? "nvlink-4" : "host_bridge"; }

TEST(PairTurns, ShowEveryKindOnEveryHostThenEveryPairOfHosts) {
  const int each = 8;
  for (const int count : {2, 4, 5, 16}) {
    const PairTurns turns(hosts(count, each), bridged);
    ASSERT_EQ(turns.min_count(), 3U);
    std::set<std::pair<int, std::string>> kinds;
    for (std::size_t index = 0; index < 2; ++index) {
      for (const RankPair& pair : turns.turn(index)) {
        EXPECT_EQ(pair.low / each, pair.high / each);
        kinds.insert({pair.low / each, bridged(pair.low, pair.high)});
      }
    }
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(2 * count));
    std::set<RankPair> met;
    EXPECT_EQ(turns.first_count(), 2U + static_cast<std::size_t>(count + count % 2 - 1));  // N - 1 rounds
    for (std::size_t index = 2; index < turns.first_count(); ++index) {
      for (const RankPair& pair : turns.turn(index)) met.insert({pair.low / each, pair.high / each});
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(count * (count - 1) / 2));
  }
}

TEST(PairTurns, BetweenHostsUseAllRanksOfTheSamePlaceFirst) {
  const PairTurns turns(hosts(9, 8));
  std::set<int> places;
  for (std::size_t index = 1; index < 9; ++index) {
    for (const RankPair& pair : turns.turn(index)) {
      EXPECT_EQ(pair.low % 8, pair.high % 8);
      places.insert(pair.low % 8);
    }
  }
  EXPECT_EQ(places.size(), 8U);
}

}  // namespace
}  // namespace sextant
