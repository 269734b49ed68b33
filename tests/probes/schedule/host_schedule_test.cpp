#include "probes/schedule/host_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "sextant/error.h"
#include "tests/probes/assembly/simulated_fleet.h"

namespace sextant {
namespace {

std::vector<HostPlace> fleet(int hosts, int zones, int regions) {
  std::vector<HostPlace> places;
  for (int host = 0; host < hosts; ++host) {
    const int zone = host % zones;
    places.push_back(
        {"h" + std::to_string(host), "r" + std::to_string(zone % regions), "z" + std::to_string(zone)});
  }
  return places;
}

// Zones and regions of very unlike size.
std::vector<HostPlace> random_fleet(int hosts, std::mt19937_64& random) {
  const int zones = 1 + static_cast<int>(random() % static_cast<unsigned>(random() % 2 == 0 ? 8 : hosts));
  const int regions = 1 + static_cast<int>(random() % 6);
  const double skew = 1 + static_cast<double>(random() % 4);
  std::uniform_real_distribution<double> share;
  std::vector<HostPlace> places;
  for (int host = 0; host < hosts; ++host) {
    const int zone = static_cast<int>(std::pow(share(random), skew) * zones);
    places.push_back(
        {"h" + std::to_string(host), "r" + std::to_string(zone % regions), "z" + std::to_string(zone)});
  }
  return places;
}

std::vector<int> degrees(const std::vector<RankPair>& pairs, std::size_t hosts) {
  std::vector<int> degree(hosts);
  for (const RankPair& pair : pairs) {
    ++degree[static_cast<std::size_t>(pair.low)];
    ++degree[static_cast<std::size_t>(pair.high)];
  }
  return degree;
}

void expect_disjoint_rounds(const PairRounds& rounds) {
  for (const auto& round : rounds) {
    std::set<int> seen;
    for (const RankPair& pair : round) {
      EXPECT_LT(pair.low, pair.high);
      EXPECT_TRUE(seen.insert(pair.low).second && seen.insert(pair.high).second);
    }
  }
}

TEST(Schedule, MeasuresAllPairsOfFewHosts) {
  const PairRounds rounds = schedule_pairs(fleet(64, 3, 2));
  EXPECT_EQ(rounds, tournament_rounds(64));
  EXPECT_TRUE(schedule_pairs(fleet(1, 1, 1)).empty());
  EXPECT_TRUE(schedule_pairs({}).empty());
}

TEST(Schedule, KeepsItsBoundsInAnyMixOfPlaces) {
  std::mt19937_64 random(3);
  for (const int hosts : {65, 66, 100, 129, 257, 1000, 1024, 3001, 10000}) {
    for (int mix = 0; mix < 6; ++mix) {
      const std::vector<HostPlace> places = random_fleet(hosts, random);
      const PairRounds rounds = schedule_pairs(places);
      const std::vector<RankPair> pairs = all_of(rounds);
      const std::set<RankPair> distinct(pairs.begin(), pairs.end());
      EXPECT_EQ(distinct.size(), pairs.size());
      const double n = hosts;
      EXPECT_LE(static_cast<double>(pairs.size()), n * (std::ceil(std::log2(n)) / 2 + 4))
          << hosts << " " << mix;
      EXPECT_LE(static_cast<double>(pairs.size()), 1.25 * n * std::log2(n)) << hosts << " " << mix;
      const std::vector<int> degree = degrees(pairs, places.size());
      const int maximum = *std::max_element(degree.begin(), degree.end());
      EXPECT_LE(rounds.size(), static_cast<std::size_t>(2 * maximum - 1));
      expect_disjoint_rounds(rounds);
    }
  }
}

TEST(Schedule, LetsEveryHostLeaveItsZoneOnce) {
  std::mt19937_64 random(5);
  for (int mix = 0; mix < 20; ++mix) {
    const std::vector<HostPlace> places = random_fleet(300, random);
    const HostGroups groups = group_hosts(places);
    std::vector<bool> leaves(places.size(), groups.zone_count() == 1);
    for (const RankPair& pair : all_of(schedule_pairs(places))) {
      if (groups.level_of(pair) == LinkLevel::within_zone) continue;
      leaves[static_cast<std::size_t>(pair.low)] = leaves[static_cast<std::size_t>(pair.high)] = true;
    }
    EXPECT_TRUE(std::all_of(leaves.begin(), leaves.end(), [](bool it) { return it; })) << mix;
  }
}

TEST(Schedule, ConnectsEachZone) {
  const std::vector<HostPlace> places = fleet(501, 4, 2);
  const HostGroups groups = group_hosts(places);
  std::vector<int> root(places.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](int host) {
    while (root[static_cast<std::size_t>(host)] != host) host = root[static_cast<std::size_t>(host)];
    return host;
  };
  for (const RankPair& pair : all_of(schedule_pairs(places))) {
    if (groups.level_of(pair) == LinkLevel::within_zone)
      root[static_cast<std::size_t>(find(pair.low))] = find(pair.high);
  }
  for (const auto& zone : groups.hosts_of_zone) {
    for (const int host : zone) EXPECT_EQ(find(host), find(zone.front()));
  }
}

TEST(Schedule, GivesHostsOfAZoneAsManyPartners) {
  const std::vector<int> degree = degrees(all_of(schedule_pairs(fleet(1024, 1, 1))), 1024);
  EXPECT_TRUE(std::all_of(degree.begin(), degree.end(), [](int it) { return it == 10; }));
  // One of 1,025 rests in each of the eleven rounds, another each time.
  const std::vector<int> odd = degrees(all_of(schedule_pairs(fleet(1025, 1, 1))), 1025);
  EXPECT_EQ(std::count(odd.begin(), odd.end(), 10), 11);
  EXPECT_EQ(std::count(odd.begin(), odd.end(), 11), 1014);
}

TEST(Schedule, MeasuresEveryPairOfZonesAndOfRegionsWhereThereAreFew) {
  const std::vector<HostPlace> places = fleet(2000, 6, 2);
  const HostGroups groups = group_hosts(places);
  std::map<RankPair, int> of_zones, of_regions;
  for (const RankPair& pair : all_of(schedule_pairs(places))) {
    const auto low = static_cast<std::size_t>(pair.low), high = static_cast<std::size_t>(pair.high);
    const LinkLevel level = groups.level_of(pair);
    if (level == LinkLevel::within_region) ++of_zones[pair_of(groups.zone_of[low], groups.zone_of[high])];
    if (level == LinkLevel::between_regions)
      ++of_regions[pair_of(groups.region_of[low], groups.region_of[high])];
  }
  EXPECT_EQ(of_zones.size(), 6U);  // three in each region
  for (const auto& [zones, pairs] : of_zones) EXPECT_GE(pairs, 24);
  ASSERT_EQ(of_regions.size(), 1U);
  EXPECT_GE(of_regions.begin()->second, 24);
}

TEST(Schedule, IsTheSameForTheSameSeed) {
  const std::vector<HostPlace> places = fleet(500, 5, 2);
  EXPECT_EQ(schedule_pairs(places, {.seed = 7}), schedule_pairs(places, {.seed = 7}));
  EXPECT_NE(schedule_pairs(places, {.seed = 7}), schedule_pairs(places, {.seed = 8}));
}

TEST(Schedule, LimitsPairsOfTwoRegionsAtOnce) {
  const std::vector<HostPlace> places = fleet(200, 2, 2);
  const HostGroups groups = group_hosts(places);
  const auto max_at_once = [&groups](const PairRounds& rounds) {
    std::ptrdiff_t maximum = 0;
    for (const auto& round : rounds) {
      maximum = std::max(maximum, std::count_if(round.begin(), round.end(), [&groups](const RankPair& pair) {
                           return groups.level_of(pair) == LinkLevel::between_regions;
                         }));
    }
    return maximum;
  };
  const PairRounds free = schedule_pairs(places),
                   limited = schedule_pairs(places, {.max_at_once_between_regions = 4});
  EXPECT_GT(max_at_once(free), 4);
  EXPECT_EQ(max_at_once(limited), 4);
  expect_disjoint_rounds(limited);
  EXPECT_EQ(all_of(free).size(), all_of(limited).size());
}

TEST(Schedule, RefusesNegativeOptions) {
  EXPECT_THROW((void)schedule_pairs(fleet(3, 1, 1), {.max_zone_crossings = -1}), Error);
}

TEST(Schedule, LeavesOutWhatWasMeasured) {
  const std::vector<HostPlace> places = fleet(300, 3, 2);
  const PairRounds rounds = schedule_pairs(places);
  std::vector<RankPair> pairs = all_of(rounds), done;
  for (std::size_t i = 0; i < pairs.size(); i += 3) done.push_back(pairs[i]);
  const PairRounds left = remaining_rounds(places, rounds, done);
  expect_disjoint_rounds(left);
  EXPECT_LE(left.size(), rounds.size());
  std::vector<RankPair> both = all_of(left);
  both.insert(both.end(), done.begin(), done.end());
  std::sort(both.begin(), both.end());
  std::sort(pairs.begin(), pairs.end());
  EXPECT_EQ(both, pairs);
  EXPECT_EQ(remaining_rounds(places, rounds, {}), rounds);
  EXPECT_TRUE(remaining_rounds(places, rounds, pairs).empty());
}

TEST(Schedule, PacksWhatIsLeftAnew) {
  // Hosts 0 and 1 have met 2 and 3: 0-1 and 2-3 were in different rounds and fit into one.
  const PairRounds rounds{{{0, 2}, {1, 3}}, {{0, 1}}, {{2, 3}}};
  const std::vector<RankPair> done{{0, 2}, {1, 3}};
  EXPECT_EQ(remaining_rounds(fleet(4, 1, 1), rounds, done), (PairRounds{{{0, 1}, {2, 3}}}));
}

TEST(Schedule, TakesAsLongAsTheSlowestPairOfEachRound) {
  const std::vector<HostPlace> places{
      {"a", "east", "e1"}, {"b", "east", "e1"}, {"c", "east", "e2"}, {"d", "west", "w1"}};
  const PairRounds rounds{{{0, 1}, {2, 3}}, {{0, 2}}, {{0, 1}}};
  const PairSeconds seconds{1, 2, 8, 0.5};
  EXPECT_DOUBLE_EQ(schedule_seconds(places, rounds, seconds), 8.5 + 2.5 + 1.5);
  EXPECT_EQ(schedule_seconds(places, {}, seconds), 0);
}

TEST(Schedule, PutsSlowPairsIntoFewRounds) {
  const std::vector<HostPlace> places = fleet(1000, 4, 2);
  const HostGroups groups = group_hosts(places);
  int rounds_across = 0;
  for (const auto& round : schedule_pairs(places)) {
    rounds_across += std::any_of(round.begin(), round.end(), [&groups](const RankPair& pair) {
      return groups.level_of(pair) == LinkLevel::between_regions;
    });
  }
  // At most two pairs of a host leave its region.
  EXPECT_LE(rounds_across, 3);
}

}  // namespace
}  // namespace sextant
