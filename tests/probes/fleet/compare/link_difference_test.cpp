#include "probes/fleet/compare/link_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/fleet/compare/two_nodes.h"

namespace sextant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// "where: before -> after" of the bandwidths, in GB/s.
std::vector<std::string> bandwidths(const ClusterParts& before, const ClusterParts& after) {
  const auto shown = [](const std::optional<Quantity>& rate) {
    return rate ? std::to_string(std::lround(rate->value / 1e9)) : std::string("-");
  };
  std::vector<std::string> lines;
  for (const ValuePair& link : compare_links(before.cluster(), after.cluster())) {
    if (link.what == "bandwidth")
      lines.push_back(link.where + ": " + shown(link.before) + " -> " + shown(link.after));
  }
  return lines;
}

LinkException exception(LinkScope scope, const std::string& from, const std::string& to, double bytes_per_s,
                        bool both_ways = true) {
  return {scope, from, to, rate_of(bytes_per_s), both_ways};
}

TEST(CompareLinks, LevelsOfEither) {
  ClusterParts after = two_nodes();
  after.levels[LinkLevel::within_region] = rate_of(3e9);
  EXPECT_THAT(bandwidths(two_nodes(), after),
              ElementsAre("links within a node: 400 -> 400", "links between nodes of a zone: 12 -> 12",
                          "links between zones of a region: - -> 3"));
}

TEST(CompareLinks, ANewBadCableIsHeldAgainstItsLevel) {
  ClusterParts after = two_nodes();
  after.exceptions = {exception(LinkScope::device, "a/1", "b/2", 6e9)};
  EXPECT_THAT(bandwidths(two_nodes(), after), Contains("link a/1 - b/2: 12 -> 6"));
  EXPECT_THAT(bandwidths(after, two_nodes()), Contains("link a/1 - b/2: 6 -> 12"));
}

TEST(CompareLinks, ACableOfAnotherOrderIsOneLine) {
  ClusterParts before = two_nodes(), after = two_nodes();
  before.exceptions = {exception(LinkScope::device, "a/1", "b/2", 6e9)};
  after.exceptions = {exception(LinkScope::device, "b/2", "a/1", 3e9)};
  EXPECT_EQ(bandwidths(before, after).size(), 3U);
  EXPECT_THAT(bandwidths(before, after), Contains("link a/1 - b/2: 6 -> 3"));
}

TEST(CompareLinks, OneWayIsTwoLines) {
  ClusterParts after = two_nodes();
  after.exceptions = {exception(LinkScope::node, "a", "b", 6e9, false)};
  EXPECT_THAT(bandwidths(two_nodes(), after), Contains("link a -> b: 12 -> 6"));
  EXPECT_THAT(bandwidths(two_nodes(), after), Contains("link b -> a: 12 -> 12"));
}

// The first devices of both nodes have a bad cable of their own, which is not the nodes'.
TEST(CompareLinks, NodesAreNotJudgedByTheirBadCable) {
  ClusterParts before = two_nodes();
  before.exceptions = {exception(LinkScope::node, "a", "b", 10e9)};
  ClusterParts after = before;
  after.exceptions.push_back(exception(LinkScope::device, "a/0", "b/0", 5e9));
  EXPECT_THAT(bandwidths(before, after), Contains("link a - b: 10 -> 10"));
  EXPECT_THAT(bandwidths(before, after), Contains("link a/0 - b/0: 10 -> 5"));
}

TEST(CompareLinks, ZonesAndRegionsToo) {
  ClusterParts before = two_nodes();
  before.nodes[1].zone = "rack-2";
  before.nodes.push_back(before.nodes[1]);
  before.nodes[2].name = "c";
  before.levels[LinkLevel::within_region] = rate_of(8e9);
  ClusterParts after = before;
  after.exceptions = {exception(LinkScope::zone, "rack", "rack-2", 2e9),
                      exception(LinkScope::zone, "rack-2", "rack-2", 1e9)};
  EXPECT_THAT(bandwidths(before, after), Contains("link rack - rack-2: 8 -> 2"));
  EXPECT_THAT(bandwidths(before, after), Contains("link rack-2 - rack-2: 12 -> 1"));
}

TEST(CompareLinks, ANodesOwnLinkIsHeldAgainstTheLevel) {
  ClusterParts after = two_nodes();
  after.nodes[1].link = rate_of(24e9);
  EXPECT_THAT(bandwidths(two_nodes(), after), Contains("links within node b: 400 -> 24"));
  EXPECT_THAT(bandwidths(two_nodes(), after), Not(Contains("links within node a: 400 -> 400")));
}

TEST(CompareLinks, EndsThatAreGoneAreLeftOut) {
  ClusterParts before = two_nodes(), after = two_nodes();
  before.exceptions = {exception(LinkScope::device, "a/3", "b/2", 6e9),
                       exception(LinkScope::node, "a", "b", 6e9)};
  after.nodes[0].devices = 3;
  EXPECT_THAT(bandwidths(before, after), Not(Contains(testing::HasSubstr("a/3"))));
  EXPECT_THAT(bandwidths(before, after), Contains("link a - b: 6 -> 12"));
  after.nodes.pop_back();
  EXPECT_EQ(bandwidths(before, after).size(), 2U) << "levels alone";
}

}  // namespace
}  // namespace sextant
