// The step of a collective beyond HetRL's one latency and one link: steps, rails, shared adapters; and the ring
// that needs no search is the one a search finds.
#include "costmodel/terms/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// A row of nodes; the plan does not matter here.
struct Row {
  TermCase whole;
  explicit Row(int nodes, int devices, std::optional<double> network = std::nullopt)
      : whole(kInference, on_device(0), small_workflow(), row_of_nodes(nodes, devices, network)) {}
  [[nodiscard]] double step_s(const std::vector<int>& members, double bytes, double sharing = 1) const {
    const std::vector<DeviceId> ids = device_ids(members);
    return terms::ring_step_s(whole.problem(), std::span<const DeviceId>(ids), bytes, 1.0, sharing);
  }
};

TEST(Collective, StepsAreThoseOfTheShorterOfRingAndTree) {
  EXPECT_EQ(terms::further_steps(1), 0);
  EXPECT_EQ(terms::further_steps(2), 1);    // 2 and 2
  EXPECT_EQ(terms::further_steps(3), 3);    // 4 and 4
  EXPECT_EQ(terms::further_steps(4), 3);    // 6 and 4
  EXPECT_EQ(terms::further_steps(5), 5);    // 8 and 6
  EXPECT_EQ(terms::further_steps(64), 11);  // 126 and 12
}

TEST(Collective, FurtherStepsPayLatencyOnly) {
  Row row(1, 4);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 200), 1 + 2);
  row.whole.set(collective_step_weight, 0.5);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 200), 1 + 3 * 0.5 + 2);
  row.whole.set(link_latency_scale, 2);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 200), 2 * (1 + 3 * 0.5) + 2);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 200), 2 * 1.5 + 2);
  EXPECT_EQ(row.step_s({0}, 200), 0);
}

// Latency 1 s, 100 bytes/s: a message of 200 bytes moves in 2 s.
TEST(Collective, SmallMessagesHaveHalfOfTheRateAndLargeOnesALongerStart) {
  Row row(1, 4);
  row.whole.set(collective_ramp_weight, 6);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 200), 1 + 2 + 1 / (1 / 6.0 + 1 / 2.0));
  EXPECT_NEAR(row.step_s({0, 1}, 1e-4), 1 + 2 * 1e-6, 1e-12);  // half of the rate
  EXPECT_NEAR(row.step_s({0, 1}, 1e10), 1 + 1e8 + 6, 1e-6);    // six latencies more
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 0), 1);                  // nothing is sent
  row.whole.set(link_latency_scale, 2);                        // the start follows the latency
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 200), 2 + 2 + 1 / (1 / 12.0 + 1 / 2.0));
}

TEST(Collective, OnlyStepsBetweenNodesHaveTheirLatency) {
  // Two nodes of four: 2 steps between nodes at 5 s, 4 inside at 1 s; all but the first are further ones.
  Row row(2, 4);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3, 4, 5, 6, 7}, 0), 5);
  row.whole.set(collective_step_weight, 1);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3, 4, 5, 6, 7}, 0), 2 * 5 + 4 * 1);
  row.whole.set(collective_step_weight, 0.5);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3, 4, 5, 6, 7}, 0), 1.5 * 5 + 2 * 1);
  EXPECT_DOUBLE_EQ(row.step_s({0, 4}, 0), 1.5 * 5);            // one member a node
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 0), 1 + 3 * 0.5);  // one node
}

TEST(Collective, MembersOfANodeAreRailsOutOfIt) {
  Row row(2, 2);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 100), 5 + 10);
  // Two nodes exchange 1/2 of what they reduce where a flat ring of four sends 3/4: two thirds of it.
  row.whole.set(rail_weight, 0.5);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 120), 5 + 120 * (5 / 6.0) / 15.0);
  row.whole.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 100), 5 + 100 * (2 / 3.0) / 20.0);
  EXPECT_DOUBLE_EQ(row.step_s({0, 2}, 100), 5 + 10);  // one member a node: one rail
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 100), 1 + 1);   // none is needed inside
}

TEST(Collective, TheNodeWithTheFewestMembersHasTheFewestRails) {
  // Every ring enters and leaves the node with one member through its one rail, whoever is named first.
  Row row(2, 2);
  row.whole.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(row.step_s({2, 0, 1}, 100), 5 + 10);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2}, 100), 5 + 10);
}

TEST(Collective, AdaptersOfANodeAreTheLimit) {
  Row row(2, 2, 15);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 120), 5 + 12);  // the link's 10 is less
  row.whole.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1, 2, 3}, 120), 5 + 80 / 15.0);
  // Two groups leave together: 7.5 for each.
  EXPECT_DOUBLE_EQ(row.step_s({0, 2}, 120, 2), 5 + 120 / 7.5);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 100, 2), 1 + 1);
}

// Two racks of two nodes of two devices: links of 90 B/s inside a rack, adapters of 20 B/s a node, and 10 B/s
// from one device to another rack.
Cluster two_racks(double rack_bytes_per_s) {
  std::vector<Node> nodes = row_of_nodes(4, 2, 20).nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].zone = i < 2 ? "rack0" : "rack1";
  return Cluster("racks", row_of_nodes(1, 1).device_types(), nodes,
                 {{LinkLevel::within_node, link_rate(1, 100)},
                  {LinkLevel::within_zone, link_rate(1, rack_bytes_per_s)},
                  {LinkLevel::within_region, link_rate(5, 10)}});
}

TEST(Collective, ARackOnOneSwitchIsLikeANode) {
  TermCase racks(kInference, on_device(0), small_workflow(), two_racks(90));
  racks.set(rail_weight, 1);
  const auto step_s = [&](const std::vector<int>& members) {
    const std::vector<DeviceId> ids = device_ids(members);
    return terms::ring_step_s(racks.problem(), std::span<const DeviceId>(ids), 140, 1.0);
  };
  // No adapter is on the way inside.
  EXPECT_DOUBLE_EQ(step_s({0, 1, 2, 3}), 1 + 140 / 90.0);
  // Out of a rack all of its adapters and one rail a device; two racks exchange 1/2 of what 8 rings would 7/8.
  EXPECT_DOUBLE_EQ(step_s({0, 1, 2, 3, 4, 5, 6, 7}), 5 + 140 * (4 / 7.0) / 40.0);
}

TEST(Collective, NodesBehindAdaptersAreNoRack) {
  const Cluster behind = two_racks(15);
  EXPECT_FALSE(behind.has_islands());
  EXPECT_TRUE(two_racks(90).has_islands());
  EXPECT_FALSE(two_racks(45).has_islands()) << "less than half as fast as inside a node";
  EXPECT_FALSE(two_racks(90).is_one_island(DeviceId{0}, DeviceId{4}));
  TermCase apart(kInference, on_device(0), small_workflow(), behind);
  apart.set(rail_weight, 1);
  const std::vector<DeviceId> ids = device_ids({0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(terms::ring_step_s(apart.problem(), std::span<const DeviceId>(ids), 120, 1.0),
                   1 + 120 * (2 / 3.0) / 20.0);
}

TEST(Collective, TheNarrowestNodeOfARingIsTheLimit) {
  // Three nodes with adapters of 30, 20 and 2 B/s: a ring passes the last one, whichever pair it is charged
  // for.
  std::vector<Node> nodes = row_of_nodes(3, 1).nodes();
  nodes[0].network_bytes_per_s = 30;
  nodes[1].network_bytes_per_s = 20;
  nodes[2].network_bytes_per_s = 2;
  const Cluster row = row_of_nodes(3, 1);
  const TermCase narrow(kInference, on_device(0), small_workflow(),
                        Cluster("row", row.device_types(), nodes, row.levels()));
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    const std::vector<DeviceId> ids = device_ids(order);
    EXPECT_DOUBLE_EQ(terms::ring_step_s(narrow.problem(), std::span<const DeviceId>(ids), 100, 1.0), 5 + 50);
  }
}

TEST(Collective, NetworkEfficiencyIsOfLinksBetweenNodes) {
  Row row(2, 2, 15);
  row.whole.set(network_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(row.step_s({0, 2}, 100), 5 + 100 / 5.0);
  EXPECT_DOUBLE_EQ(row.step_s({0, 2}, 120, 2), 5 + 120 / 3.75);
  EXPECT_DOUBLE_EQ(row.step_s({0, 1}, 100), 1 + 1);
}

TEST(Collective, WhatIsLostOnLinksOfANodeIsNotLostBetweenNodes) {
  Row row(2, 2);
  const auto step_s = [&](const std::vector<int>& members, double share) {
    const std::vector<DeviceId> ids = device_ids(members);
    return terms::ring_step_s(row.whole.problem(), std::span<const DeviceId>(ids), 100,
                              terms::within_nodes(share));
  };
  EXPECT_DOUBLE_EQ(step_s({0, 1}, 0.5), 1 + 100 / 50.0);
  EXPECT_DOUBLE_EQ(step_s({0, 2}, 0.5), 5 + 100 / 10.0);
  // Unless the node's own links are the slower ones: they carry all 100 bytes at 5 of 100 B/s, while two rails
  // carry two thirds of them at 20 B/s.
  row.whole.set(rail_weight, 1);
  EXPECT_DOUBLE_EQ(step_s({0, 1, 2, 3}, 0.05), 5 + 100 / 5.0);
  EXPECT_DOUBLE_EQ(step_s({0, 1, 2, 3}, 0.25), 5 + 100 / 25.0);             // 4 s inside, 3.3 s between
  EXPECT_DOUBLE_EQ(step_s({0, 1, 2, 3}, 0.5), 5 + 100 * (2 / 3.0) / 20.0);  // 2 s inside
}

// Racks of 32 GPUs on one switch of 900 GB/s, with an adapter of 50 GB/s for each, and no latency.
Cluster racks_of_gb200(int racks) {
  std::vector<Node> nodes;
  for (int i = 0; i < 8 * racks; ++i) {
    nodes.push_back(node("n" + std::to_string(i), "fast", 4));
    nodes.back().zone = "rack" + std::to_string(i / 8);
    nodes.back().network_bytes_per_s = 4 * 50e9;
  }
  return Cluster("racks", {{"fast", device_type(100, 50)}}, nodes,
                 {{LinkLevel::within_node, link_rate(0, 900e9)},
                  {LinkLevel::within_zone, link_rate(0, 900e9)},
                  {LinkLevel::within_region, link_rate(0, 50e9)}});
}

// An all-gather of `bytes` over the first n devices.
double gather_s(const TermCase& on, int n, double bytes, double within = 1) {
  std::vector<DeviceId> members;
  for (int d = 0; d < n; ++d) members.push_back(DeviceId{d});
  return terms::ring_step_s(on.problem(), std::span<const DeviceId>(members), bytes * (n - 1.0) / n,
                            terms::within_nodes(within));
}

TEST(Collective, AGatherOverTwoRacksUsesEveryAdapterOfTheRacks) {
  TermCase two(kInference, on_device(0), small_workflow(), racks_of_gb200(2));
  two.set(rail_weight, 1);
  // 405 GB: half of them pass 32 adapters, 0.127 s; 63/64 of them pass the switch of each rack, 0.443 s.
  EXPECT_DOUBLE_EQ(gather_s(two, 64, 405e9), 405e9 * (63 / 64.0) / 900e9);
  // In one rack 31/32 of them.
  EXPECT_DOUBLE_EQ(gather_s(two, 32, 405e9), 405e9 * (31 / 32.0) / 900e9);
  // One GPU of each rack has one adapter: 202.5 GB at 50 GB/s.
  const std::vector<DeviceId> apart = device_ids({0, 32});
  EXPECT_DOUBLE_EQ(terms::ring_step_s(two.problem(), std::span<const DeviceId>(apart), 405e9 / 2, 1.0), 4.05);
  // Without rails the whole ring passes one adapter.
  two.set(rail_weight, 0);
  EXPECT_NEAR(gather_s(two, 64, 405e9), 405e9 * (63 / 64.0) / 50e9, 1e-9);
}

// Levels of a hierarchy: a group that leaves a node, and one that leaves a rack, is no faster for it.
TEST(Collective, ShardsInOneNodeOrRackAreNeverSlowerThanOverSeveral) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    const auto draw = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    TermCase racks(kInference, on_device(0), small_workflow(), racks_of_gb200(4));
    racks.set(rail_weight, draw(0, 1));
    racks.set(network_efficiency, draw(0.3, 1.5));
    racks.set(collective_ramp_weight, draw(0.1, 10));
    TermCase nodes(kInference, on_device(0), small_workflow(), row_of_nodes(8, 4, draw(10, 500)));
    nodes.set(rail_weight, draw(0, 1));
    const double within = draw(0.05, 1), bytes = draw(1, 1e12);
    double last_rack_s = 0, last_node_s = 0;
    for (const int count : {1, 2, 3, 4}) {
      const double rack_s = gather_s(racks, 32 * count, bytes, within);
      const double node_s = gather_s(nodes, 4 * count, bytes, within);
      EXPECT_GE(rack_s, last_rack_s) << "trial " << trial << ", racks " << count;
      EXPECT_GE(node_s, last_node_s) << "trial " << trial << ", nodes " << count;
      last_rack_s = rack_s;
      last_node_s = node_s;
    }
  }
}

TEST(Collective, TransfersThatLeaveTogetherShareTheNetwork) {
  const Row row(2, 2, 15);
  const std::vector<DeviceId> from = device_ids({0, 1}), to = device_ids({2, 3});
  EXPECT_DOUBLE_EQ(terms::fastest_transfer_s(row.whole.problem(), std::span<const DeviceId>(from),
                                             std::span<const DeviceId>(to), 60, 1.0, 2),
                   5 + 60 / 7.5);
}

TEST(Collective, TransfersSeeTheNetworkToo) {
  Row row(2, 2, 8);
  const std::vector<DeviceId> from = device_ids({0, 1}), to = device_ids({2, 3});
  EXPECT_DOUBLE_EQ(terms::fastest_transfer_s(row.whole.problem(), std::span<const DeviceId>(from),
                                             std::span<const DeviceId>(to), 80, 1.0),
                   5 + 80 / 8.0);
  EXPECT_EQ(terms::fastest_transfer_s(row.whole.problem(), std::span<const DeviceId>(from),
                                      std::span<const DeviceId>(from), 80, 1.0),
            0);
}

// Nodes in zones in regions at random; `ordered`: links further in are faster.
Cluster random_hierarchy(std::mt19937& random, bool ordered) {
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<Node> nodes;
  const int count = 1 + static_cast<int>(random() % 5);
  for (int i = 0; i < count; ++i) {
    nodes.push_back(node("n" + std::to_string(i), "fast", 1 + static_cast<int>(random() % 4)));
    const std::string region = std::to_string(random() % 2);
    nodes.back().region = "r" + region;
    nodes.back().zone = "z" + region + std::to_string(random() % 2);
    if (random() % 3 == 0) nodes.back().link = link_rate(draw(0.1, 4), draw(10, 300));
  }
  std::map<LinkLevel, LinkRate> levels;
  double latency = draw(0.1, 1), rate = draw(100, 200);
  for (int level = 0; level < kLinkLevelCount; ++level) {
    levels[static_cast<LinkLevel>(level)] = link_rate(latency, rate);
    latency = ordered ? latency * draw(1, 3) : draw(0.1, 9);
    rate = ordered ? rate / draw(1, 3) : draw(10, 200);
  }
  return Cluster("random", {{"fast", device_type(100, 50)}}, nodes, levels);
}

TEST(Collective, TheRingWithoutSearchIsTheOneASearchFinds) {
  std::mt19937 random(5);
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Cluster cluster = random_hierarchy(random, trial % 2 == 0);
    ASSERT_TRUE(cluster.has_uniform_links());
    std::vector<DeviceId> members;
    for (int d = 0; d < cluster.device_count(); ++d) members.push_back(DeviceId{d});
    std::shuffle(members.begin(), members.end(), random);
    members.resize(std::min<std::size_t>(members.size(), 2 + random() % 9));
    if (members.size() < 3) continue;
    const double bytes = static_cast<double>(random() % 1000);
    const auto edge_s = [&](DeviceId from, DeviceId to) {
      const LinkRate& link = cluster.link(from, to);
      return link.latency_s.value + bytes / link.bytes_per_s.value;
    };
    const BottleneckRing found = find_bottleneck_ring(members, edge_s);
    ASSERT_TRUE(found.exact());
    const auto edge = terms::slowest_ring_edge(cluster, members, edge_s);
    ASSERT_DOUBLE_EQ(edge_s(edge.from, edge.to), found.upper_s) << "trial " << trial;
    ++compared;
  }
  EXPECT_GT(compared, 250);
}

// Links of machines, and in every second cluster also of single devices, that levels do not explain.
TEST(Collective, TheFastestTransferIsThatOfAllPairs) {
  std::mt19937 random(7);
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<LinkException> exceptions = {
        {LinkScope::node, "n0", "n1", link_rate(draw(0.1, 9), draw(1, 99))},
        {LinkScope::node, "n0", "n0", link_rate(draw(0.1, 9), draw(1, 99))}};
    if (trial % 2 == 1)
      exceptions.push_back({LinkScope::device, "n0/1", "n2/0", link_rate(draw(0.1, 1), draw(100, 999))});
    const std::map<LinkLevel, LinkRate> levels = {{LinkLevel::within_node, link_rate(0.1, 90)},
                                                  {LinkLevel::within_zone, link_rate(1, 30)}};
    const Cluster cluster("unlike", {{"fast", device_type(100, 50)}},
                          {node("n0", "fast", 3), node("n1", "fast", 3), node("n2", "fast", 2)}, levels,
                          exceptions);
    const TermCase whole(kInference, on_device(0), small_workflow(), cluster);
    std::vector<DeviceId> all;
    for (int d = 0; d < cluster.device_count(); ++d) all.push_back(DeviceId{d});
    std::shuffle(all.begin(), all.end(), random);
    const std::span<const DeviceId> from(all.data(), 1 + random() % 3), to(all.data() + 3, 1 + random() % 5);
    const double bytes = draw(0, 500);
    double min_s = std::numeric_limits<double>::infinity();
    for (const DeviceId a : from) {
      for (const DeviceId b : to) {
        const LinkRate& link = cluster.link(a, b);
        min_s = std::min(min_s, link.latency_s.value + bytes / link.bytes_per_s.value);
      }
    }
    ASSERT_DOUBLE_EQ(terms::fastest_transfer_s(whole.problem(), from, to, bytes, 1.0), min_s)
        << "trial " << trial;
  }
}

TEST(Collective, ANodeWithMostMembersPassesItsOwnLinks) {
  const Cluster cluster = row_of_nodes(2, 2);
  const auto slow_inside = [&cluster](DeviceId a, DeviceId b) {
    return cluster.node_of(a) == cluster.node_of(b) ? 10.0 : 1.0;
  };
  const auto slow_outside = [&cluster](DeviceId a, DeviceId b) {
    return cluster.node_of(a) == cluster.node_of(b) ? 1.0 : 10.0;
  };
  const auto inside = [&](const std::vector<DeviceId>& members, const auto& edge_s) {
    const RingEdge edge = terms::slowest_ring_edge(cluster, members, edge_s);
    return cluster.node_of(edge.from) == cluster.node_of(edge.to);
  };
  EXPECT_TRUE(inside(device_ids({0, 1, 2}), slow_inside));
  EXPECT_FALSE(inside(device_ids({0, 1, 2}), slow_outside));
  EXPECT_FALSE(inside(device_ids({0, 1, 2, 3}), slow_inside));  // there and back between the nodes
}

}  // namespace
}  // namespace sextant::test
