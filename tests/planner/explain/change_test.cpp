#include "planner/explain/change.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"
#include "tests/planner/explain/explain_case.h"

namespace sextant::test {
namespace {

LinkException between(LinkScope scope, const std::string& from, const std::string& to, double bytes_per_s) {
  return {scope, from, to, {assumed(1e-5), assumed(bytes_per_s)}, true};
}

// a100-z1-0, a100-z1-1, l40s-z2-0, l40s-z2-1 with an exception of every scope.
Cluster with_exceptions() {
  return cluster_of(
      {{"a100", 2, 4}, {"l40s", 2, 4, "z2"}},
      {between(LinkScope::device, "a100-z1-0/0", "a100-z1-0/1", 1e9),
       between(LinkScope::node, "a100-z1-0", "a100-z1-1", 2e9),
       between(LinkScope::node, "a100-z1-1", "l40s-z2-0", 3e9), between(LinkScope::zone, "z1", "z2", 4e9)});
}

TEST(Change, AddsMachinesLikeThoseThereAre) {
  const Cluster grown = changed(explained_cluster(), AddMachines{"l40s", 2, ""});
  ASSERT_EQ(grown.nodes().size(), 6U);
  EXPECT_EQ(grown.device_count(), 24);
  EXPECT_EQ(grown.nodes()[4].device_type, "l40s");
  EXPECT_EQ(grown.nodes()[4].zone, "z2");
  EXPECT_NE(grown.nodes()[4].name, grown.nodes()[5].name);
  EXPECT_EQ(changed(grown, AddMachines{"l40s", 1, "z1"}).nodes().back().zone, "z1");
}

TEST(Change, RemovesMachinesAndTheExceptionsAboutThem) {
  const Cluster less = changed(with_exceptions(), RemoveMachine{"a100-z1-0"});
  EXPECT_EQ(less.nodes().size(), 3U);
  ASSERT_EQ(less.exceptions().size(), 2U);
  EXPECT_EQ(less.exceptions()[0].from, "a100-z1-1");
  EXPECT_EQ(less.exceptions()[1].scope, LinkScope::zone);
  const Cluster one_zone = changed(with_exceptions(), RemoveMachines{"l40s", 2});
  EXPECT_EQ(one_zone.exceptions().size(), 2U);  // that of the zones has lost one of them
  EXPECT_EQ(changed(explained_cluster(), RemoveMachines{"a100", 1}).nodes().front().name, "a100-z1-0");
}

TEST(Change, OfALevelChangesAllLinksThere) {
  const Cluster faster = changed(with_exceptions(), ChangeLinks{LinkLevel::within_zone, {}, true, 3});
  EXPECT_EQ(faster.levels().at(LinkLevel::within_zone).bytes_per_s.value, 3 * 12.5e9);
  EXPECT_EQ(faster.exceptions()[0].rate.bytes_per_s.value, 1e9);  // within a node
  EXPECT_EQ(faster.exceptions()[1].rate.bytes_per_s.value, 6e9);
  EXPECT_EQ(faster.exceptions()[2].rate.bytes_per_s.value, 3e9);  // between zones
  const Cluster set = changed(with_exceptions(),
                              ChangeLinks{LinkLevel::within_region, ChangeLinks::What::latency_s, false, 0.5});
  EXPECT_EQ(set.exceptions()[2].rate.latency_s.value, 0.5);
  EXPECT_EQ(set.exceptions()[3].rate.latency_s.value, 0.5);
  EXPECT_EQ(set.exceptions()[1].rate.latency_s.value, 1e-5);
}

// Otherwise the adapters would keep collectives on all rails at the old rate.
TEST(Change, OfANetworkChangesTheAdaptersThatLeadToIt) {
  const auto network = [](const Cluster& cluster) { return *cluster.nodes().front().network_bytes_per_s; };
  const auto with_network = [](const Cluster& plain, double bytes_per_s) {
    std::vector<Node> nodes = plain.nodes();
    for (Node& node : nodes) node.network_bytes_per_s = bytes_per_s;
    return Cluster("networks", plain.device_types(), nodes, plain.levels());
  };
  const Cluster nodes = with_network(cluster_of({{"a100", 2, 4}}), 50e9);
  EXPECT_EQ(network(changed(nodes, ChangeLinks{LinkLevel::within_zone, {}, true, 4})), 200e9);
  EXPECT_EQ(network(changed(nodes, ChangeLinks{LinkLevel::within_zone, {}, false, 25e9})), 100e9);
  EXPECT_EQ(network(changed(nodes, ChangeLinks{LinkLevel::within_node, {}, true, 4})), 50e9);
  EXPECT_EQ(network(changed(nodes, ChangeLinks{LinkLevel::within_zone, ChangeLinks::What::latency_s, true, 4})),
            50e9);
  // Two racks, whose nodes reach each other faster than their adapters.
  std::map<LinkLevel, LinkRate> levels = nodes.levels();
  levels.at(LinkLevel::within_zone) = levels.at(LinkLevel::within_node);
  const Cluster racks =
      with_network(Cluster("racks", nodes.device_types(),
                           cluster_of({{"a100", 2, 4}, {"a100", 2, 4, "z2"}}).nodes(), levels),
                   50e9);
  ASSERT_TRUE(racks.has_islands());
  EXPECT_EQ(network(changed(racks, ChangeLinks{LinkLevel::within_zone, {}, true, 4})), 50e9);
  EXPECT_EQ(network(changed(racks, ChangeLinks{LinkLevel::within_region, {}, true, 4})), 200e9);
}

TEST(Change, OfOneLinkLeavesAllOthers) {
  const Cluster cluster = with_exceptions();
  const auto rate = [](const Cluster& of, int from, int to) {
    return of.link(DeviceId{from}, DeviceId{to}).bytes_per_s.value;
  };
  // a100-z1-0 has devices 0 to 3, a100-z1-1 4 to 7, l40s-z2-0 8 to 11, l40s-z2-1 12 to 15.
  const Cluster node = changed(cluster, ChangeLinkBetween{"a100-z1-1", "a100-z1-0", {}, true, 0.5});
  EXPECT_EQ(rate(node, 0, 4), 1e9);
  EXPECT_EQ(rate(node, 4, 0), 1e9);
  EXPECT_EQ(rate(node, 4, 8), 3e9);
  EXPECT_EQ(node.exceptions().size(), cluster.exceptions().size());
  // Without an exception, the link gets one, from its current rate.
  const Cluster fresh = changed(cluster, ChangeLinkBetween{"a100-z1-0", "l40s-z2-1", {}, true, 10});
  EXPECT_EQ(rate(fresh, 0, 12), 40e9);
  EXPECT_EQ(rate(fresh, 15, 3), 40e9);
  EXPECT_EQ(rate(fresh, 0, 8), 4e9);
  EXPECT_EQ(rate(fresh, 4, 12), 4e9);
  // A change between zones includes the links of machines in them.
  const Cluster zones = changed(cluster, ChangeLinkBetween{"z1", "z2", {}, true, 2});
  EXPECT_EQ(rate(zones, 0, 8), 8e9);
  EXPECT_EQ(rate(zones, 4, 8), 6e9);
  EXPECT_EQ(rate(zones, 0, 4), 2e9);
  const Cluster set =
      changed(cluster, ChangeLinkBetween{"z1", "z2", ChangeLinks::What::latency_s, false, 0.25});
  EXPECT_EQ(set.link(DeviceId{0}, DeviceId{8}).latency_s.value, 0.25);
  EXPECT_EQ(rate(set, 0, 8), 4e9);
}

TEST(Change, OfOneLinkNeedsTwoEndsOfOneKind) {
  const Cluster cluster = with_exceptions();
  EXPECT_EQ(refusal_of([&] {
              (void)changed(cluster, ChangeLinkBetween{"z1", "l40s-z2-0", {}, true, 2});
            }),
            "the cluster has no two machines, zones or regions \"z1\" and \"l40s-z2-0\"");
  EXPECT_EQ(refusal_of([&] {
              (void)changed(cluster, ChangeLinkBetween{"z1", "z1", {}, true, 2});
            }),
            "a link needs two different ends, got \"z1\" twice");
}

TEST(Change, OfDevicesScalesTheirNumber) {
  const Cluster larger = changed(explained_cluster(), ScaleDevices{"l40s", "memory_bytes", 2});
  EXPECT_EQ(larger.device_types().at("l40s").memory_bytes.value, 96e9);
  EXPECT_EQ(larger.device_types().at("a100").memory_bytes.value, 80e9);
}

TEST(Change, RefusesWhatCannotBe) {
  const auto refusal = [](const ClusterChange& change) {
    return refusal_of([&] { (void)changed(explained_cluster(), change); });
  };
  EXPECT_EQ(refusal(RemoveMachine{"ghost"}), "the cluster has no machine \"ghost\"");
  EXPECT_EQ(refusal(RemoveMachines{"a100", 3}), "the cluster has 2 machines of type \"a100\", not 3");
  EXPECT_EQ(refusal(AddMachines{"b200", 1, ""}), "the cluster has no machine of type \"b200\"");
  EXPECT_EQ(refusal(AddMachines{"a100", 1, "z9"}), "the cluster has no zone \"z9\"");
  EXPECT_EQ(refusal(ScaleDevices{"b200", "flop_per_s", 2}), "the cluster has no device type \"b200\"");
  const Cluster one = cluster_of({{"a100", 1, 4}});
  EXPECT_EQ(refusal_of([&] {
              (void)changed(one, RemoveMachines{"a100", 1});
            }),
            "this would remove the last machine");
}

// Devices are numbered anew where machines before them are gone.
TEST(Change, PlansMoveByTheNamesOfMachines) {
  const ExplainedCase it;
  const Cluster less = changed(it.cluster, RemoveMachine{"a100-z1-0"});
  Plan plan = *it.result.plan;
  for (auto& [name, task] : plan.tasks) {
    task.replicas = {{1.0, {{32, {DeviceId{8}, DeviceId{9}}}}}};
  }
  const std::optional<Plan> there = moved(plan, it.cluster, less);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->tasks.begin()->second.replicas[0].stages[0].devices,
            (std::vector<DeviceId>{DeviceId{4}, DeviceId{5}}));
  plan.tasks.begin()->second.replicas[0].stages[0].devices[0] = DeviceId{0};
  EXPECT_FALSE(moved(plan, it.cluster, less));
}

}  // namespace
}  // namespace sextant::test
