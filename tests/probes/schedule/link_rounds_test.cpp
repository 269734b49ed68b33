#include "probes/schedule/link_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LinkRounds, NodesFirstThenTheRanksOfEach) {
  const LinkRounds rounds = schedule_links({"a", "a", "b", "b", "c", "c", "d", "d"});
  ASSERT_EQ(rounds.between_nodes.size(), 3U);  // N - 1
  std::set<RankPair> pairs;
  for (const auto& round : rounds.between_nodes) {
    EXPECT_EQ(round.size(), 2U);  // every node in each
    pairs.insert(round.begin(), round.end());
  }
  EXPECT_THAT(pairs, ElementsAre(RankPair{0, 2}, RankPair{0, 4}, RankPair{0, 6}, RankPair{2, 4}, RankPair{2, 6},
                                 RankPair{4, 6}));
  EXPECT_THAT(rounds.within_nodes,
              ElementsAre(ElementsAre(RankPair{0, 1}, RankPair{2, 3}, RankPair{4, 5}, RankPair{6, 7})));
  EXPECT_EQ(rounds.in_order().size(), 4U);
}

TEST(LinkRounds, OneNodeHasItsOwnPairsAndOneRankEachOnlyNodes) {
  EXPECT_THAT(schedule_links({"a", "a", "a"}).between_nodes, IsEmpty());
  EXPECT_EQ(schedule_links({"a", "a", "a"}).within_nodes.size(), 3U);
  EXPECT_THAT(schedule_links({"a", "b"}).within_nodes, IsEmpty());
  EXPECT_THAT(schedule_links({"a", "b"}).between_nodes, ElementsAre(ElementsAre(RankPair{0, 1})));
  EXPECT_THAT(schedule_links({}).in_order(), IsEmpty());
}

TEST(LinkRounds, RanksNeedNotBeNumberedHostByHost) {
  const LinkRounds rounds = schedule_links({"a", "b", "a", "b"});
  EXPECT_THAT(rounds.between_nodes, ElementsAre(ElementsAre(RankPair{0, 1})));
  EXPECT_THAT(rounds.within_nodes, ElementsAre(ElementsAre(RankPair{0, 2}, RankPair{1, 3})));
}

TEST(LinkRounds, WhatIsDoneIsLeftOut) {
  const LinkRounds rounds = without(schedule_links({"a", "a", "b", "b"}), {{0, 2}, {0, 1}});
  EXPECT_THAT(rounds.between_nodes, IsEmpty());
  EXPECT_THAT(rounds.within_nodes, ElementsAre(ElementsAre(RankPair{2, 3})));
}

}  // namespace
}  // namespace sextant
