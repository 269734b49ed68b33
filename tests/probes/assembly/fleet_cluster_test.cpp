#include "probes/assembly/fleet_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/report/fleet_fixture.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using test::host;
using test::kFlop_per_s;
using test::kRate;
using test::kRoundTrip_s;
using test::pair;

FleetRecord three_hosts() {
  FleetRecord outcome;
  outcome.hosts = {host("a"), host("b"), host("c", 0.5)};
  outcome.pairs = {pair("a", "b"), pair("c", "a"), pair("b", "c")};
  return outcome;
}

TEST(FleetCluster, MakesANodeOfEachHost) {
  const FleetCluster fleet = assemble_fleet_cluster("lab", three_hosts(), 1);
  ASSERT_TRUE(fleet.cluster.has_value()) << fleet.failure_reason;
  const Cluster& cluster = *fleet.cluster;
  ASSERT_EQ(cluster.nodes().size(), 3U);
  EXPECT_EQ(cluster.nodes()[2].name, "c");
  EXPECT_EQ(cluster.nodes()[2].region, "r");
  EXPECT_EQ(cluster.device_count(), 6);
  const LinkRate& link = cluster.levels().at(LinkLevel::within_zone);
  EXPECT_DOUBLE_EQ(link.latency_s.value, kRoundTrip_s / 2);
  EXPECT_DOUBLE_EQ(link.bytes_per_s.value, kRate);
  EXPECT_EQ(link.bytes_per_s.source, Source::measured);
}

TEST(FleetCluster, ATypeHasTheMedianOfItsHosts) {
  const FleetCluster fleet = assemble_fleet_cluster("lab", three_hosts(), 1);
  const DeviceType& type = fleet.cluster->device_types().at("gpu");
  EXPECT_DOUBLE_EQ(type.flop_per_s.at(Precision::bf16).value, kFlop_per_s);
  EXPECT_THAT(type.flop_per_s.at(Precision::bf16).note.value_or(""), HasSubstr("median of 3 hosts"));
}

TEST(FleetCluster, ANodeKeepsALinkOfItsOwnThatIsOdd) {
  const FleetCluster fleet = assemble_fleet_cluster("lab", three_hosts(), 1);
  EXPECT_FALSE(fleet.cluster->nodes()[0].link.has_value());
  ASSERT_TRUE(fleet.cluster->nodes()[2].link.has_value());
  EXPECT_DOUBLE_EQ(fleet.cluster->nodes()[2].link->bytes_per_s.value, 0.5e11);
}

// Eight pairs of GPUs of two hosts do not have eight times what the hosts have.
TEST(FleetCluster, DevicesOfTwoHostsShareTheirRate) {
  const Cluster cluster = *assemble_fleet_cluster("lab", three_hosts(), 1).cluster;
  const auto trunk = cluster.trunk(DeviceId{0}, DeviceId{2});
  ASSERT_TRUE(trunk.has_value());
  EXPECT_EQ(trunk->scope, LinkScope::node);
  EXPECT_DOUBLE_EQ(trunk->bytes_per_s, kRate);
}

// Two hosts in each of two regions: of four pairs two can be measured at once.
TEST(FleetCluster, RegionsHaveWhatPairsReachedTogether) {
  FleetRecord outcome;
  for (const char* name : {"a", "b", "c", "d"}) {
    outcome.hosts.push_back(host(name));
    Host& one = outcome.hosts.back().host;
    one.region = one.zone = name[0] < 'c' ? "here" : "there";
  }
  const auto at = [&](const char* from, const char* to, double speed, int round) {
    outcome.pairs.push_back(pair(from, to, speed));
    outcome.pairs.back().round = round;
  };
  at("a", "c", 0.06, 1);  // 60 MB/s each beside each other
  at("b", "d", 0.06, 1);
  at("a", "d", 0.1, 2);  // 100 MB/s alone
  at("b", "c", 0.05, 3);
  at("a", "b", 1, 4);
  at("c", "d", 1, 4);
  const Cluster cluster = *assemble_fleet_cluster("lab", outcome, 1).cluster;
  const LinkRate& between = cluster.levels().at(LinkLevel::between_regions);
  EXPECT_DOUBLE_EQ(between.bytes_per_s.value, 0.06 * kRate);
  ASSERT_TRUE(between.capacity_bytes_per_s.has_value());
  EXPECT_DOUBLE_EQ(between.capacity_bytes_per_s->value, 0.12 * kRate);
  EXPECT_THAT(between.capacity_bytes_per_s->note.value_or(""), HasSubstr("together, of 2 pairs of hosts"));
  // Without rounds nothing is known of what they share.
  for (PairMeasurement& one : outcome.pairs) one.round = 0;
  EXPECT_FALSE(assemble_fleet_cluster("lab", outcome, 1)
                   .cluster->levels()
                   .at(LinkLevel::between_regions)
                   .capacity_bytes_per_s.has_value());
}

// NCCL over TCP: the slowest socket times their number.
TEST(FleetCluster, SeveralSocketsAreAsFastAsTheSlowest) {
  const PairMeasurement measured = pair("a", "b");
  const int streams = measured.rates.back().streams;
  ASSERT_GT(streams, 1);
  const auto rate = link_rate(measured, streams);
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->bytes_per_s.value, 0.9 * kRate * streams);
  EXPECT_FALSE(link_rate(measured, streams + 1).has_value());
}

TEST(FleetCluster, TheSlowerDirectionCounts) {
  PairMeasurement measured = pair("a", "b");
  for (StreamRate& rate : measured.rates) {
    if (rate.direction == Direction::back) rate.bytes_per_s /= 3;
  }
  EXPECT_DOUBLE_EQ(link_rate(measured, 1)->bytes_per_s.value, kRate / 3);
}

TEST(FleetCluster, LeavesOutWhoWasLost) {
  FleetRecord outcome = three_hosts();
  outcome.hosts[1].why_lost = "was ended by signal 9";
  outcome.hosts[2].devices.reset();
  const FleetCluster fleet = assemble_fleet_cluster("lab", outcome, 1);
  ASSERT_TRUE(fleet.cluster.has_value());
  EXPECT_EQ(fleet.cluster->nodes().size(), 1U);
  EXPECT_THAT(fleet.warnings,
              Contains(HasSubstr("b is not in the cluster document: it was ended by signal 9")));
  EXPECT_THAT(fleet.warnings, Contains(HasSubstr("c is not in the cluster document")));
}

// The document has one environment: where hosts differ, that is said.
TEST(FleetCluster, WarnsOfSettingsThatDiffer) {
  FleetRecord outcome = three_hosts();
  const auto set = [&](std::size_t i, const std::string& value) {
    outcome.hosts[i].devices->cluster["environment"] = {{"NCCL_SOCKET_IFNAME", value}};
  };
  for (const std::size_t i : {0U, 1U, 2U}) set(i, "eth0");
  EXPECT_THAT(assemble_fleet_cluster("lab", outcome, 1).warnings,
              ::testing::Not(Contains(HasSubstr("NCCL_SOCKET_IFNAME"))));
  set(1, "eth1");
  EXPECT_THAT(assemble_fleet_cluster("lab", outcome, 1).warnings,
              Contains(HasSubstr("NCCL_SOCKET_IFNAME is not the same on all hosts (\"eth0\" on a and 1 more, "
                                 "\"eth1\" on b)")));
}

TEST(FleetCluster, SaysWhyThereIsNone) {
  FleetRecord outcome = three_hosts();
  outcome.pairs.clear();
  EXPECT_FALSE(assemble_fleet_cluster("lab", outcome, 1).cluster.has_value());
  EXPECT_THAT(assemble_fleet_cluster("lab", outcome, 1).failure_reason, HasSubstr("no pair of hosts"));
  for (HostOutcome& one : outcome.hosts) one.devices.reset();
  EXPECT_THAT(assemble_fleet_cluster("lab", outcome, 1).failure_reason, HasSubstr("not measured on any host"));
}

TEST(FleetCluster, PairsThatWereNotMeasuredAreEstimatedWithAnError) {
  FleetRecord outcome = three_hosts();
  outcome.pairs.pop_back();
  const FleetCluster fleet = assemble_fleet_cluster("lab", outcome, 1);
  ASSERT_TRUE(fleet.cluster.has_value());
  EXPECT_THAT(fleet.warnings, Contains(HasSubstr("2 of 3.00 pairs were measured; too few to estimate")));
}

}  // namespace
}  // namespace sextant
