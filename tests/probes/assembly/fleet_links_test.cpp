#include "probes/assembly/fleet_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "probes/assembly/cluster_assembly.h"
#include "tests/probes/assembly/simulated_fleet.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

std::vector<MeasuredPair> measured_pairs(const SimulatedFleet& fleet, const std::vector<RankPair>& pairs) {
  std::vector<MeasuredPair> all;
  all.reserve(pairs.size());
  for (const RankPair& pair : pairs) {
    all.push_back(
        {pair,
         {measured(fleet.measured_latency_s(pair), 0.02), measured(fleet.measured_bytes_per_s(pair), 0.02)}});
  }
  return all;
}

FleetLinks links_of(const std::vector<HostPlace>& places, const std::vector<MeasuredPair>& pairs) {
  std::vector<PairSample> latencies, rates;
  for (const MeasuredPair& it : pairs) {
    latencies.push_back({it.pair, it.rate.latency_s.value, 0.02});
    rates.push_back({it.pair, it.rate.bytes_per_s.value, 0.02});
  }
  return assemble_fleet_links(places, pairs, PairModel::fit(places, latencies, PairQuantity::latency_s),
                              PairModel::fit(places, rates, PairQuantity::bytes_per_s));
}

// The cluster that a plan would read: also checks that a Cluster accepts the names.
Cluster cluster_of(const std::vector<HostPlace>& places, const FleetLinks& links) {
  DeviceType type;
  type.memory_bytes = type.memory_bytes_per_s = type.flop_per_s[Precision::fp32] = assumed(1);
  std::vector<Node> nodes;
  for (std::size_t host = 0; host < places.size(); ++host) {
    Node node;
    node.name = places[host].name;
    node.region = places[host].region;
    node.zone = places[host].zone;
    node.device_type = "core";
    node.network_bytes_per_s = links.network_bytes_per_s[host];
    nodes.push_back(node);
  }
  return Cluster("fleet", {{"core", type}}, nodes, links.levels, links.exceptions);
}

int count(const FleetLinks& links, LinkScope scope) {
  return static_cast<int>(std::count_if(links.exceptions.begin(), links.exceptions.end(),
                                        [scope](const LinkException& it) { return it.scope == scope; }));
}

constexpr double kQuiet = 0.001;

TEST(FleetLinks, GivesLikeHostsALevelAndNothingElse) {
  const SimulatedFleet fleet({.hosts = 300, .pair_sigma = kQuiet, .noise_sigma = kQuiet});
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const FleetLinks links = links_of(fleet.places, measured_pairs(fleet, pairs));
  ASSERT_EQ(links.levels.size(), 1U);
  const LinkRate& rate = links.levels.at(LinkLevel::within_zone);
  EXPECT_NEAR(rate.bytes_per_s.value, 3e9, 3e7);
  EXPECT_EQ(rate.bytes_per_s.source, Source::measured);
  EXPECT_EQ(rate.bytes_per_s.note, "median of " + std::to_string(pairs.size()) + " pairs");
  EXPECT_GE(rate.bytes_per_s.spread_fraction.value_or(0), 0.02);
  EXPECT_TRUE(links.exceptions.empty());
  EXPECT_TRUE(links.warnings.empty());
}

TEST(FleetLinks, GivesASlowHostItsRateInsteadOfExceptions) {
  const SimulatedFleet fleet(
      {.hosts = 300, .slow_fraction = 0.03, .pair_sigma = kQuiet, .noise_sigma = kQuiet});
  const FleetLinks links = links_of(fleet.places, measured_pairs(fleet, all_of(schedule_pairs(fleet.places))));
  int slow = 0;
  for (int host = 0; host < 300; ++host) {
    const auto& rate = links.network_bytes_per_s[static_cast<std::size_t>(host)];
    EXPECT_EQ(rate.has_value(), fleet.is_slow(host)) << host;
    EXPECT_NEAR(rate.value_or(3e8), 3e8, 3e6);
    slow += fleet.is_slow(host);
  }
  ASSERT_GT(slow, 3);
  EXPECT_NEAR(links.levels.at(LinkLevel::within_zone).bytes_per_s.value, 3e9, 3e7);
  EXPECT_THAT(*links.levels.at(LinkLevel::within_zone).bytes_per_s.note, HasSubstr("that a host slows"));
  ASSERT_FALSE(links.warnings.empty());
  EXPECT_THAT(links.warnings.front(), HasSubstr("with every other host"));
  // Its latency has no place but the measured pairs.
  for (const LinkException& it : links.exceptions) EXPECT_GT(it.rate.latency_s.value, 50e-6);
}

TEST(FleetLinks, KeepsAZoneThatIsFarOff) {
  SimulatedFleet fleet({.hosts = 400, .zones_per_region = 4, .pair_sigma = kQuiet, .noise_sigma = kQuiet});
  std::vector<MeasuredPair> pairs = measured_pairs(fleet, all_of(schedule_pairs(fleet.places)));
  const auto zone_of = [&fleet](int host) { return fleet.places[static_cast<std::size_t>(host)].zone; };
  for (MeasuredPair& it : pairs) {
    const std::string low = zone_of(it.pair.low), high = zone_of(it.pair.high);
    if (std::min(low, high) == "zone1" && std::max(low, high) == "zone2") it.rate.bytes_per_s.value = 5e8;
    if (low == "zone3" && high == "zone3") it.rate.latency_s.value = 90e-6;
  }
  const FleetLinks links = links_of(fleet.places, pairs);
  ASSERT_EQ(links.exceptions.size(), 2U);
  const auto of = [&links](const std::string& from) {
    return *std::find_if(links.exceptions.begin(), links.exceptions.end(),
                         [&from](const LinkException& it) { return std::min(it.from, it.to) == from; });
  };
  EXPECT_EQ(of("zone1").scope, LinkScope::zone);
  EXPECT_EQ(std::max(of("zone1").from, of("zone1").to), "zone2");
  EXPECT_DOUBLE_EQ(of("zone1").rate.bytes_per_s.value, 5e8);
  EXPECT_THAT(*of("zone1").rate.bytes_per_s.note, HasSubstr("median of "));
  EXPECT_EQ(of("zone3").to, "zone3");
  EXPECT_DOUBLE_EQ(of("zone3").rate.latency_s.value, 90e-6);
  (void)cluster_of(fleet.places, links);
}

TEST(FleetLinks, KeepsRegionsThatAreFarApart) {
  const SimulatedFleet fleet({.hosts = 400,
                              .regions = 4,
                              .zones_per_region = 2,
                              .has_distances = true,
                              .pair_sigma = kQuiet,
                              .noise_sigma = kQuiet});
  const FleetLinks links = links_of(fleet.places, measured_pairs(fleet, all_of(schedule_pairs(fleet.places))));
  EXPECT_GE(count(links, LinkScope::region), 2);
  EXPECT_LE(count(links, LinkScope::region), 6);
  EXPECT_EQ(count(links, LinkScope::zone), 0);
  EXPECT_EQ(count(links, LinkScope::node), 0);
  const Cluster cluster = cluster_of(fleet.places, links);
  for (int a = 0; a < 400; a += 7) {
    for (int b = a + 1; b < 400; b += 5) {
      const LinkRate& said = cluster.link({a}, {b});
      EXPECT_NEAR(said.latency_s.value / fleet.latency_s({a, b}), 1, kOddLinkFraction);
      EXPECT_NEAR(said.bytes_per_s.value / fleet.bytes_per_s({a, b}), 1, kOddLinkFraction);
    }
  }
}

TEST(FleetLinks, EstimatesZonesOfACrowdedUplink) {
  // 60 racks: hardly any two of them were measured often enough for an exception of their own.
  const SimulatedFleet fleet({.hosts = 480,
                              .zones_per_region = 60,
                              .crowded_zones = 0.1,
                              .pair_sigma = kQuiet,
                              .noise_sigma = kQuiet});
  const FleetLinks links = links_of(fleet.places, measured_pairs(fleet, all_of(schedule_pairs(fleet.places))));
  EXPECT_GT(count(links, LinkScope::zone), 59);
  const Cluster cluster = cluster_of(fleet.places, links);
  int off = 0, over_capacity = 0;
  for (int a = 0; a < 480; ++a) {
    for (int b = a + 1; b < 480; ++b) {
      const double rate = fleet.bytes_per_s({a, b});
      over_capacity += rate < 5e8;
      off += std::abs(cluster.link({a}, {b}).bytes_per_s.value / rate - 1) > kOddLinkFraction;
    }
  }
  EXPECT_GT(over_capacity, 10000);
  EXPECT_EQ(off, 0);
  EXPECT_TRUE(std::any_of(links.exceptions.begin(), links.exceptions.end(), [](const LinkException& it) {
    return it.rate.bytes_per_s.source == Source::assumed &&
           it.rate.bytes_per_s.note->starts_with("not measured");
  }));
}

TEST(FleetLinks, KeepsAMeasuredPairThatIsOff) {
  const SimulatedFleet fleet({.hosts = 40, .pair_sigma = kQuiet, .noise_sigma = kQuiet});
  std::vector<MeasuredPair> pairs = measured_pairs(fleet, all_of(schedule_pairs(fleet.places)));
  pairs[17].rate.bytes_per_s.value = 1e9;
  const FleetLinks links = links_of(fleet.places, pairs);
  ASSERT_EQ(links.exceptions.size(), 1U);
  EXPECT_EQ(links.exceptions[0].scope, LinkScope::node);
  EXPECT_EQ(links.exceptions[0].from, fleet.places[static_cast<std::size_t>(pairs[17].pair.low)].name);
  EXPECT_EQ(links.exceptions[0].to, fleet.places[static_cast<std::size_t>(pairs[17].pair.high)].name);
  EXPECT_EQ(links.exceptions[0].rate, pairs[17].rate);
}

TEST(FleetLinks, AssumesTheRateOfALevelThatNobodyMeasured) {
  const std::vector<HostPlace> places{
      {"a", "east", "e1"}, {"b", "east", "e1"}, {"c", "east", "e2"}, {"d", "west", "w1"}};
  const LinkRate near{measured(20e-6, 0.02), measured(3e9, 0.02)},
      far{measured(30e-3, 0.02), measured(1e8, 0.02)};
  // The next outer level that was measured.
  const FleetLinks outer = links_of(places, {{{0, 1}, near}, {{0, 3}, far}});
  EXPECT_EQ(outer.levels.at(LinkLevel::within_region).latency_s.value, 30e-3);
  EXPECT_EQ(outer.levels.at(LinkLevel::within_region).latency_s.source, Source::assumed);
  EXPECT_EQ(outer.levels.at(LinkLevel::within_region).latency_s.note, "not measured: the rate between regions");
  ASSERT_EQ(outer.warnings.size(), 1U);
  EXPECT_THAT(outer.warnings[0], HasSubstr("between zones of a region"));
  // No outer one: the next inner one.
  const FleetLinks inner = links_of(places, {{{0, 1}, near}, {{0, 2}, near}});
  EXPECT_EQ(inner.levels.at(LinkLevel::between_regions).bytes_per_s,
            assumed(3e9, "not measured: the rate between zones of a region"));
  // No two hosts meet there: no rate.
  const FleetLinks one_zone = links_of({places[0], places[1]}, {{{0, 1}, near}});
  EXPECT_EQ(one_zone.levels.size(), 1U);
  (void)cluster_of(places, outer);
}

TEST(FleetLinks, HasAtMostAsManyExceptionsAsHosts) {
  const SimulatedFleet fleet({.hosts = 3000, .zones_per_region = 3, .pair_sigma = 0.6});
  const FleetLinks links = links_of(fleet.places, measured_pairs(fleet, all_of(schedule_pairs(fleet.places))));
  EXPECT_EQ(links.exceptions.size(), 3000U);
  ASSERT_FALSE(links.warnings.empty());
  EXPECT_THAT(links.warnings.back(), HasSubstr("largest deviations are kept"));
}

}  // namespace
}  // namespace sextant
