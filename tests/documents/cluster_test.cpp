#include "sextant/cluster.h"

#include <gtest/gtest.h>

#include <random>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

LinkRate rate(double latency_s, double bytes_per_s) { return {assumed(latency_s), assumed(bytes_per_s)}; }

DeviceType some_type() {
  DeviceType type;
  type.memory_bytes = assumed(8e9);
  type.memory_bytes_per_s = assumed(1e12);
  type.flop_per_s = {{Precision::bf16, assumed(1e14)}};
  return type;
}

Node node(const std::string& name, const std::string& zone, const std::string& region, int devices = 2) {
  Node out;
  out.name = name;
  out.zone = zone;
  out.region = region;
  out.device_type = "t";
  out.devices = devices;
  return out;
}

// Devices 0-1 in a, 2-3 in b (same zone), 4-5 in c (same region), 6-7 in d.
std::vector<Node> four_nodes() {
  return {node("a", "z0", "r0"), node("b", "z0", "r0"), node("c", "z1", "r0"), node("d", "z2", "r1")};
}

std::map<LinkLevel, LinkRate> all_levels() {
  return {{LinkLevel::within_node, rate(1, 1)},
          {LinkLevel::within_zone, rate(2, 2)},
          {LinkLevel::within_region, rate(3, 3)},
          {LinkLevel::between_regions, rate(4, 4)}};
}

Cluster cluster_of(std::vector<Node> nodes, std::map<LinkLevel, LinkRate> levels = all_levels(),
                   std::vector<LinkException> exceptions = {}) {
  return Cluster("c", {{"t", some_type()}}, std::move(nodes), std::move(levels), std::move(exceptions));
}

// The latency that the link between two devices has; rates are told apart by it.
double latency(const Cluster& cluster, int from, int to) {
  return cluster.link(DeviceId{from}, DeviceId{to}).latency_s.value;
}

std::string refusal(std::vector<Node> nodes, std::map<LinkLevel, LinkRate> levels = all_levels(),
                    std::vector<LinkException> exceptions = {}) {
  return refusal_of([&] { (void)cluster_of(nodes, levels, exceptions); });
}

TEST(ClusterTest, NumbersDevicesThroughTheNodes) {
  const Cluster cluster = cluster_of({node("a", "z", "r", 1), node("b", "z", "r", 3)});
  EXPECT_EQ(cluster.device_count(), 4);
  EXPECT_EQ(cluster.node_of(DeviceId{0}), NodeId{0});
  EXPECT_EQ(cluster.node_of(DeviceId{1}), NodeId{1});
  EXPECT_EQ(cluster.device_name(DeviceId{3}), "b/2");
  EXPECT_EQ(cluster.type_name(DeviceId{3}), "t");
  EXPECT_EQ(cluster.type_of(DeviceId{3}), some_type());
  EXPECT_TRUE(cluster.contains(DeviceId{3}));
  EXPECT_FALSE(cluster.contains(DeviceId{4}));
  EXPECT_FALSE(cluster.contains(DeviceId{-1}));
}

TEST(ClusterTest, LinksFollowTheLevelWhereDevicesMeet) {
  const Cluster cluster = cluster_of(four_nodes());
  EXPECT_EQ(latency(cluster, 0, 1), 1);
  EXPECT_EQ(latency(cluster, 0, 2), 2);
  EXPECT_EQ(latency(cluster, 3, 4), 3);
  EXPECT_EQ(latency(cluster, 7, 0), 4);
  EXPECT_EQ(cluster.level_between(DeviceId{0}, DeviceId{0}), LinkLevel::within_node);
  EXPECT_EQ(cluster.level_between(DeviceId{1}, DeviceId{6}), LinkLevel::between_regions);
}

TEST(ClusterTest, ANodesOwnLinkComesBeforeTheLevel) {
  auto nodes = four_nodes();
  nodes[1].link = rate(9, 9);
  const Cluster cluster = cluster_of(nodes);
  EXPECT_EQ(latency(cluster, 2, 3), 9);
  EXPECT_EQ(latency(cluster, 0, 1), 1);
  EXPECT_EQ(latency(cluster, 1, 2), 2);
}

TEST(ClusterTest, TheInnermostExceptionWins) {
  const std::vector<LinkException> exceptions{{LinkScope::region, "r0", "r1", rate(40, 1), true},
                                              {LinkScope::zone, "z1", "z2", rate(30, 1), true},
                                              {LinkScope::node, "c", "d", rate(20, 1), true},
                                              {LinkScope::device, "c/0", "d/1", rate(10, 1), true}};
  const Cluster cluster = cluster_of(four_nodes(), all_levels(), exceptions);
  EXPECT_EQ(latency(cluster, 4, 7), 10);
  EXPECT_EQ(latency(cluster, 7, 4), 10);
  EXPECT_EQ(latency(cluster, 4, 6), 20);
  EXPECT_EQ(latency(cluster, 0, 6), 40);
  EXPECT_EQ(latency(cluster, 0, 4), 3);  // untouched
  const Cluster without_nodes = cluster_of(four_nodes(), all_levels(), {exceptions[0], exceptions[1]});
  EXPECT_EQ(latency(without_nodes, 4, 7), 30);
}

TEST(ClusterTest, ExceptionsMayHoldOneWayOnly) {
  const Cluster cluster =
      cluster_of(four_nodes(), all_levels(), {{LinkScope::node, "a", "b", rate(9, 1), false}});
  EXPECT_EQ(latency(cluster, 0, 2), 9);
  EXPECT_EQ(latency(cluster, 2, 0), 2);
}

TEST(ClusterTest, AnExceptionWithinAPlaceLeavesWhatIsFurtherInAlone) {
  const Cluster cluster = cluster_of(four_nodes(), all_levels(),
                                     {{LinkScope::node, "a", "a", rate(7, 1), true},
                                      {LinkScope::zone, "z0", "z0", rate(8, 1), true},
                                      {LinkScope::region, "r0", "r0", rate(9, 1), true}});
  EXPECT_EQ(latency(cluster, 0, 1), 7);
  EXPECT_EQ(latency(cluster, 2, 3), 1);
  EXPECT_EQ(latency(cluster, 0, 2), 8);
  EXPECT_EQ(latency(cluster, 0, 4), 9);
  EXPECT_EQ(latency(cluster, 0, 6), 4);
}

LinkRate shared(double latency_s, double capacity) {
  LinkRate shared = rate(latency_s, 1);
  shared.capacity_bytes_per_s = assumed(capacity);
  return shared;
}

TEST(ClusterTest, ATrunkIsOfWhatItsLinkIsBetween) {
  auto levels = all_levels();
  levels[LinkLevel::within_zone] = shared(2, 20);
  levels[LinkLevel::within_region] = shared(3, 30);
  levels[LinkLevel::between_regions] = shared(4, 40);
  const Cluster cluster = cluster_of(
      four_nodes(), levels,
      {{LinkScope::zone, "z0", "z0", shared(5, 50), true}, {LinkScope::node, "a", "c", rate(6, 6), true}});
  const auto trunk = [&](int from, int to) { return cluster.trunk(DeviceId{from}, DeviceId{to}); };
  EXPECT_TRUE(cluster.has_trunks());
  EXPECT_FALSE(trunk(0, 1)) << "one node";
  EXPECT_EQ(trunk(0, 2), (Trunk{LinkScope::node, 0, 1, 50})) << "a zone with itself: its nodes";
  EXPECT_EQ(trunk(3, 0), (Trunk{LinkScope::node, 1, 0, 50}));
  EXPECT_EQ(trunk(2, 5), (Trunk{LinkScope::zone, 0, 1, 30}));
  EXPECT_FALSE(trunk(0, 4)) << "these nodes have a link of their own, without a capacity";
  EXPECT_EQ(trunk(0, 6), (Trunk{LinkScope::region, 0, 1, 40}));
  EXPECT_EQ(trunk(5, 7), trunk(0, 6)) << "of all zones of the regions";
  EXPECT_FALSE(cluster_of(four_nodes()).has_trunks());
  const Json json = cluster.to_json();
  EXPECT_EQ(Cluster::parse(JsonView(json)), cluster);
}

TEST(ClusterTest, LinksOfDevicesHaveNoCapacity) {
  auto levels = all_levels();
  levels[LinkLevel::within_node] = shared(1, 10);
  EXPECT_EQ(
      refusal(four_nodes(), levels),
      "/links/within_node/capacity_bytes_per_s: links between devices of one node cannot have a capacity; "
      "only links between nodes, zones and regions can");
  auto nodes = four_nodes();
  nodes[1].link = shared(1, 10);
  EXPECT_NE(refusal(nodes).find("/nodes/1/link/capacity_bytes_per_s"), std::string::npos);
  EXPECT_NE(refusal(four_nodes(), all_levels(), {{LinkScope::device, "a/0", "b/0", shared(1, 10), true}})
                .find("/link_exceptions/0/capacity_bytes_per_s"),
            std::string::npos);
}

// The same answer as a plain search through the exceptions, for every pair of a random cluster.
TEST(ClusterTest, LinksEqualThoseOfASearch) {
  std::mt19937 random(17);
  std::vector<Node> nodes;
  for (int i = 0; i < 12; ++i) {
    const std::string zone = std::to_string(random() % 6);
    nodes.push_back(node("n" + std::to_string(i), "z" + zone, "r" + std::to_string(std::stoi(zone) / 2), 3));
  }
  std::vector<LinkException> exceptions;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < i; j += 1 + static_cast<int>(random() % 4)) {
      exceptions.push_back({LinkScope::node, "n" + std::to_string(i), "n" + std::to_string(j),
                            rate(100 + static_cast<double>(exceptions.size()), 1), false});
    }
  }
  const Cluster cluster = cluster_of(nodes, all_levels(), exceptions);
  const auto searched = [&](int from, int to) {
    for (const LinkException& exception : exceptions) {
      if (nodes[from / 3].name == exception.from && nodes[to / 3].name == exception.to) {
        return exception.rate.latency_s.value;
      }
    }
    const Node& a = nodes[from / 3];
    const Node& b = nodes[to / 3];
    return a.name == b.name ? 1.0 : a.zone == b.zone ? 2.0 : a.region == b.region ? 3.0 : 4.0;
  };
  for (int from = 0; from < cluster.device_count(); ++from) {
    for (int to = 0; to < cluster.device_count(); ++to) {
      if (from == to) continue;
      ASSERT_EQ(latency(cluster, from, to), searched(from, to)) << from << " " << to;
    }
  }
}

TEST(ClusterTest, CopiesKeepTheirLinks) {
  Cluster copy;
  {
    const Cluster original =
        cluster_of(four_nodes(), all_levels(), {{LinkScope::node, "a", "b", rate(9, 1), true}});
    copy = original;
    EXPECT_EQ(copy, original);
  }
  EXPECT_EQ(latency(copy, 0, 2), 9);
}

TEST(ClusterTest, EveryLevelThatOccursNeedsARate) {
  auto levels = all_levels();
  levels.erase(LinkLevel::within_node);
  EXPECT_EQ(refusal(four_nodes(), levels),
            "/links/within_node: missing; node \"a\" has 2 devices and no link of its own");
  levels = all_levels();
  levels.erase(LinkLevel::within_zone);
  EXPECT_EQ(refusal(four_nodes(), levels), "/links/within_zone: missing; nodes \"a\" and \"b\" meet there");
  levels = all_levels();
  levels.erase(LinkLevel::within_region);
  EXPECT_EQ(refusal(four_nodes(), levels), "/links/within_region: missing; nodes \"a\" and \"c\" meet there");
  levels = all_levels();
  levels.erase(LinkLevel::between_regions);
  EXPECT_EQ(refusal(four_nodes(), levels), "/links/between_regions: missing; nodes \"a\" and \"d\" meet there");
}

TEST(ClusterTest, LevelsThatDoNotOccurNeedNone) {
  EXPECT_NO_THROW((void)cluster_of({node("a", "z", "r", 1)}, {}));
  EXPECT_NO_THROW((void)cluster_of({node("a", "z", "r", 1), node("b", "z", "r", 1)},
                                   {{LinkLevel::within_zone, rate(1, 1)}}));
  Node own = node("a", "z", "r", 8);
  own.link = rate(1, 1);
  EXPECT_NO_THROW((void)cluster_of({own}, {}));
}

TEST(ClusterTest, RefusesNodesThatCannotBe) {
  EXPECT_EQ(refusal({}), "/nodes: expected at least one node");
  EXPECT_EQ(refusal({node("a", "z", "r"), node("a", "z", "r")}),
            "/nodes/1/name: another node is named \"a\" too");
  EXPECT_EQ(refusal({node("a/b", "z", "r")}),
            "/nodes/0/name: a node's name must not contain \"/\", got \"a/b\"");
  EXPECT_EQ(
      refusal({node("a", "z", "r"), node("b", "z", "s")}),
      "/nodes/1/zone: zone \"z\" is in region \"r\" already; zones of different regions need different names");
  EXPECT_EQ(refusal({node("a", "z", "r", 0)}), "/nodes/0/devices: expected an integer >= 1, got 0");
  EXPECT_EQ(refusal({node("a", "z", "r", 600000), node("b", "z", "r", 600000)}),
            "/nodes/1/devices: more than 1000000 devices in total");
  Node other = node("a", "z", "r");
  other.device_type = "u";
  EXPECT_EQ(refusal({other}), "/nodes/0/device_type: unknown device type \"u\"");
}

TEST(ClusterTest, RefusesExceptionsAboutNothing) {
  const auto with = [](const LinkException& exception) {
    return refusal(four_nodes(), all_levels(), {exception});
  };
  EXPECT_EQ(with({LinkScope::node, "a", "x", rate(1, 1), true}), "/link_exceptions/0/to: unknown node \"x\"");
  EXPECT_EQ(with({LinkScope::zone, "r0", "z0", rate(1, 1), true}),
            "/link_exceptions/0/from: unknown zone \"r0\"");
  EXPECT_EQ(with({LinkScope::region, "z0", "r0", rate(1, 1), true}),
            "/link_exceptions/0/from: unknown region \"z0\"");
  for (const char* device : {"a", "a/2", "a/-1", "a/", "a/1x", "x/0", "a/99999999999"}) {
    EXPECT_EQ(with({LinkScope::device, device, "b/0", rate(1, 1), true}),
              "/link_exceptions/0/from: unknown device \"" + std::string(device) + "\"");
  }
  EXPECT_EQ(with({LinkScope::device, "a/0", "a/0", rate(1, 1), true}),
            "/link_exceptions/0/to: a device has no link to itself");
}

TEST(ClusterTest, RefusesTwoExceptionsForOneLink) {
  EXPECT_EQ(
      refusal(four_nodes(), all_levels(),
              {{LinkScope::node, "a", "b", rate(1, 1), true}, {LinkScope::node, "b", "a", rate(2, 1), false}}),
      "/link_exceptions/1: /link_exceptions/0 is about the same link");
  EXPECT_NO_THROW((void)cluster_of(
      four_nodes(), all_levels(),
      {{LinkScope::node, "a", "b", rate(1, 1), false}, {LinkScope::node, "b", "a", rate(2, 1), false}}));
}

TEST(ClusterTest, LatencyMayBeZeroAndBandwidthMayNot) {
  Json json = fixture_body("cluster.json");
  json["links"]["within_node"]["latency_s"]["value"] = 0;
  EXPECT_NO_THROW((void)parse_as<Cluster>(json));
  json["links"]["within_node"]["bytes_per_s"]["value"] = 0;
  EXPECT_EQ(refusal_of([&] { (void)parse_as<Cluster>(json); }),
            "/links/within_node/bytes_per_s/value: expected a number > 0, got 0");
}

TEST(ClusterTest, RefusesUnknownPrecisionsAndTypesWithoutRates) {
  Json json = fixture_body("cluster.json");
  json["device_types"]["h100"]["flop_per_s"]["int4"] = json["device_types"]["h100"]["flop_per_s"]["bf16"];
  EXPECT_EQ(refusal_of([&] { (void)parse_as<Cluster>(json); }),
            "/device_types/h100/flop_per_s/int4: expected one of fp64, fp32, tf32, bf16, fp16, fp8, fp4, got "
            "\"int4\"");
  json["device_types"]["h100"]["flop_per_s"] = Json::object();
  EXPECT_EQ(refusal_of([&] { (void)parse_as<Cluster>(json); }),
            "/device_types/h100/flop_per_s: expected the rate of at least one precision");
}

TEST(ClusterTest, ReadsTheFixture) {
  const auto cluster = load_fixture<Cluster>("cluster.json");
  EXPECT_EQ(cluster.device_count(), 8);
  EXPECT_EQ(cluster.device_name(DeviceId{5}), "ohio-0/1");
  EXPECT_EQ(cluster.type_of(DeviceId{0}).flop_per_s.at(Precision::bf16).value, 6.12e14);
  EXPECT_EQ(latency(cluster, 0, 3), 5e-6);
  EXPECT_EQ(latency(cluster, 3, 0), 4e-6);
  EXPECT_EQ(latency(cluster, 4, 7), 1.2e-5);
  EXPECT_EQ(latency(cluster, 0, 7), 0.006);
}

// The fixture is of version 1.0, which had neither measurements nor an environment.
TEST(ClusterTest, WritesItsVersionAndReadsTheOneBefore) {
  const auto old = read_text_file(data_file("cluster.json"));
  EXPECT_NE(old.find("\"sextant.cluster/1.0\""), std::string::npos);
  Document<Cluster> document = parse_document<Cluster>(old);
  EXPECT_TRUE(document.content.environment().empty());
  document.content.set_environment({{"NCCL_ALGO", "Ring"}});
  const std::string text = format_document(document);
  EXPECT_NE(text.find("\"sextant.cluster/1.3\""), std::string::npos);
  EXPECT_EQ(parse_document<Cluster>(text).content, document.content);
}

TEST(ClusterDeathTest, ALinkNeedsTwoDevices) {
  const Cluster cluster = cluster_of(four_nodes());
  EXPECT_DEATH((void)cluster.link(DeviceId{1}, DeviceId{1}), "does not hold");
  EXPECT_DEATH((void)cluster.link(DeviceId{1}, DeviceId{8}), "does not hold");
}

}  // namespace
}  // namespace sextant
