#include "probes/assembly/cluster_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four ranks on each of the hosts a, b, ...
std::vector<PlacedRank> ranks(int hosts) {
  std::vector<PlacedRank> placed;
  for (int rank = 0; rank < 4 * hosts; ++rank) {
    const std::string node(1, static_cast<char>('a' + rank / 4));
    placed.push_back({node, node + "/" + std::to_string(rank % 4)});
  }
  return placed;
}

// Ranks 0 and 1 of a host are bridged, and so are 2 and 3.
std::string kind(int low, int high) { return low / 2 == high / 2 ? "nvlink-4" : "host_bridge"; }

LinkMeasurement link(int low, int high, double bytes_per_s) {
  AlphaBeta fit;
  fit.latency_s = 1e-6;
  fit.bytes_per_s = bytes_per_s;
  return {{low, high}, {}, fit, ""};
}

TEST(ClusterLinks, APairThatWasNotMeasuredHasTheRateOfItsKind) {
  // Host a has every pair, b one pair of each kind.
  std::vector<LinkMeasurement> measured = {link(0, 1, 100e9), link(2, 3, 100e9), link(0, 2, 20e9),
                                           link(0, 3, 20e9),  link(1, 2, 20e9),  link(1, 3, 20e9),
                                           link(4, 5, 100e9), link(4, 6, 20e9),  link(0, 4, 10e9)};
  const ClusterLinks links = assemble_links(ranks(2), measured, {kind});
  EXPECT_NEAR(links.levels.at(LinkLevel::within_node).bytes_per_s.value, 20e9, 1);
  EXPECT_NEAR(links.levels.at(LinkLevel::within_zone).bytes_per_s.value, 10e9, 1);
  // Bridges are exceptions, measured or not; others are as the level has it.
  ASSERT_EQ(links.exceptions.size(), 4U);
  const LinkException& unmeasured = links.exceptions.front();
  EXPECT_EQ(unmeasured.from + " " + unmeasured.to, "b/2 b/3");
  EXPECT_NEAR(unmeasured.rate.bytes_per_s.value, 100e9, 1);
  EXPECT_THAT(unmeasured.rate.bytes_per_s.note.value(), HasSubstr("not measured itself"));
  ASSERT_EQ(links.warnings.size(), 3U + 2U);
  EXPECT_THAT(links.warnings[3], HasSubstr("4 of 12 links within nodes were not measured: b/0 and b/3"));
  EXPECT_THAT(links.warnings[4],
              HasSubstr("15 of 16 links between nodes were not measured: a/0 and b/1, a/0 and "
                        "b/2, a/0 and b/3, a/1 and b/0 and others. They get"));
}

TEST(ClusterLinks, APairOfNodesWithABadCableIsAnExceptionWithoutAllItsPairs) {
  std::vector<LinkMeasurement> measured = {link(0, 1, 100e9), link(4, 5, 100e9), link(8, 9, 100e9)};
  measured.push_back(link(0, 4, 10e9));
  measured.push_back(link(4, 8, 10e9));
  measured.push_back(link(0, 8, 3e9));
  const ClusterLinks links = assemble_links(ranks(3), measured, {});
  ASSERT_EQ(links.exceptions.size(), 1U);
  EXPECT_EQ(links.exceptions[0].scope, LinkScope::node);
  EXPECT_EQ(links.exceptions[0].from + links.exceptions[0].to, "ac");
  EXPECT_NEAR(links.exceptions[0].rate.bytes_per_s.value, 3e9, 1);
}

TEST(ClusterLinks, WithEveryPairMeasuredNothingIsSaid) {
  std::vector<LinkMeasurement> measured;
  for (int low = 0; low < 4; ++low) {
    for (int high = low + 1; high < 4; ++high) measured.push_back(link(low, high, 10e9));
  }
  EXPECT_THAT(assemble_links(ranks(1), measured, {kind}).warnings, IsEmpty());
}

// Two zones of two hosts in region r, one zone of two hosts in s; a rank each.
std::vector<PlacedRank> three_zones() {
  return {{"a", "a/0", "r1", "r"}, {"b", "b/0", "r1", "r"}, {"c", "c/0", "r2", "r"},
          {"d", "d/0", "r2", "r"}, {"e", "e/0", "s1", "s"}, {"f", "f/0", "s1", "s"}};
}

double rate_between(const std::vector<PlacedRank>& ranks, int low, int high) {
  const PlacedRank &a = ranks[static_cast<std::size_t>(low)], &b = ranks[static_cast<std::size_t>(high)];
  return a.region != b.region ? 1e9 : a.zone != b.zone ? 5e9 : 10e9;
}

TEST(ClusterLinks, LevelsFollowFromThePlaces) {
  const auto ranks = three_zones();
  std::vector<LinkMeasurement> measured;
  for (int low = 0; low < 6; ++low) {
    for (int high = low + 1; high < 6; ++high)
      measured.push_back(link(low, high, rate_between(ranks, low, high)));
  }
  const ClusterLinks links = assemble_links(ranks, measured, {});
  EXPECT_EQ(links.levels.size(), 3U);
  EXPECT_NEAR(links.levels.at(LinkLevel::within_zone).bytes_per_s.value, 10e9, 1);
  EXPECT_NEAR(links.levels.at(LinkLevel::within_region).bytes_per_s.value, 5e9, 1);
  EXPECT_NEAR(links.levels.at(LinkLevel::between_regions).bytes_per_s.value, 1e9, 1);
  EXPECT_THAT(links.exceptions, IsEmpty());
  EXPECT_THAT(links.warnings, IsEmpty());
}

TEST(ClusterLinks, TwoRegionsFarFromTheirLevelAreOneException) {
  std::vector<PlacedRank> ranks;
  for (const std::string region : {"r", "s", "t"}) {
    for (const std::string nth : {"1", "2"})
      ranks.push_back({region + nth, region + nth + "/0", region, region});
  }
  std::vector<LinkMeasurement> measured;
  for (int low = 0; low < 6; ++low) {
    for (int high = low + 1; high < 6; ++high) {
      const bool is_slow = low / 2 == 0 && high / 2 == 2;  // r and t
      measured.push_back(link(low, high, low / 2 == high / 2 ? 10e9 : is_slow ? 0.1e9 : 1e9));
    }
  }
  const ClusterLinks links = assemble_links(ranks, measured, {});
  ASSERT_EQ(links.exceptions.size(), 1U);
  EXPECT_EQ(links.exceptions[0].scope, LinkScope::region);
  EXPECT_EQ(links.exceptions[0].from + links.exceptions[0].to, "rt");
  EXPECT_NEAR(links.exceptions[0].rate.bytes_per_s.value, 0.1e9, 1);
}

// Ranks 0 to 3 on a, 4 to 7 on b: the first of each stands for its node.
TEST(ClusterLinks, OnePairOfRanksStandsForItsNodesWithoutAWarning) {
  std::vector<LinkMeasurement> measured = {link(0, 4, 10e9)};
  for (int low = 0; low < 8; ++low) {
    for (int high = low + 1; high < 8; ++high) {
      if (low / 4 == high / 4) measured.push_back(link(low, high, 100e9));
    }
  }
  LinkRules rules;
  rules.one_pair_for_nodes = true;
  EXPECT_THAT(assemble_links(ranks(2), measured, rules).warnings, IsEmpty());
  // A third node is unknown: one warning for each pair of nodes.
  EXPECT_THAT(assemble_links(ranks(3), measured, rules).warnings[1], HasSubstr("2 of 3 links between nodes"));
}

TEST(ClusterLinks, WhatAnInterruptedProbeLeftIsFilled) {
  LinkRules rules;
  rules.fills_levels = true;
  const ClusterLinks links = assemble_links(three_zones(), {link(0, 1, 10e9), link(0, 4, 1e9)}, rules);
  const LinkRate& missing = links.levels.at(LinkLevel::within_region);
  EXPECT_NEAR(missing.bytes_per_s.value, 1e9, 1);  // of the next outer level
  EXPECT_EQ(missing.bytes_per_s.source, Source::assumed);
  EXPECT_EQ(links.levels.at(LinkLevel::within_zone).bytes_per_s.source, Source::measured);
  EXPECT_THAT(links.warnings, ::testing::Contains(HasSubstr("no link between zones was measured")));
  EXPECT_THROW(static_cast<void>(assemble_links(three_zones(), {}, rules)), Error);
}

TEST(ClusterLinks, ALevelWithoutAnyFitFails) {
  LinkMeasurement broken = link(0, 4, 1e9);
  broken.fit.reset();
  broken.sentence = "link/8: changed";
  try {
    static_cast<void>(assemble_links(ranks(2), {link(0, 1, 1e9), link(4, 5, 1e9), broken}, {}));
    FAIL() << "no failure";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
    EXPECT_THAT(error.what(),
                HasSubstr("no link between nodes could be measured: a/0 and b/0 (link/8: changed)"));
  }
}

}  // namespace
}  // namespace sextant
