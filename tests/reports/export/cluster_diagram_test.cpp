#include "reports/export/cluster_diagram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Quantity quantity(double value) { return assumed(value); }

LinkRate rate(double latency_s, double bytes_per_s) { return {quantity(latency_s), quantity(bytes_per_s)}; }

Node node(const std::string& name, const std::string& zone, const std::string& type = "h100", int devices = 8) {
  return {name, "here", zone, type, devices, std::nullopt, std::nullopt};
}

DeviceType gpu() {
  DeviceType type;
  type.memory_bytes = quantity(80e9);
  type.memory_bytes_per_s = quantity(3e12);
  type.flop_per_s = {{Precision::bf16, quantity(1e15)}};
  return type;
}

Cluster two_zones(std::vector<LinkException> exceptions = {}) {
  return Cluster("two \"zones\"", {{"h100", gpu()}, {"l40s", gpu()}},
                 {node("a0", "a"), node("a1", "a"), node("a2", "a"), node("b0", "b", "l40s", 4)},
                 {{LinkLevel::within_node, rate(2e-6, 450e9)},
                  {LinkLevel::within_zone, rate(5e-6, 50e9)},
                  {LinkLevel::within_region, rate(1e-3, 1e9)}},
                 std::move(exceptions));
}

TEST(ClusterDiagram, NodesThatAreAlikeAreOneBox) {
  const std::string text = cluster_as_mermaid(two_zones());
  EXPECT_EQ(text,
            "%% two \"zones\"\n"
            "flowchart LR\n"
            "subgraph s0[\"here\"]\n"
            "net4((\"network of here\"))\n"
            "subgraph s1[\"a\"]\n"
            "n0[\"3 nodes, a0 to a2<br>8 x h100 each<br>inside: 450 GB/s, 2.00 us\"]\n"
            "net2((\"network of a\"))\n"
            "end\n"
            "subgraph s2[\"b\"]\n"
            "n1[\"b0<br>4 x l40s<br>inside: 450 GB/s, 2.00 us\"]\n"
            "net3((\"network of b\"))\n"
            "end\n"
            "end\n"
            "n0 --- |\"50.0 GB/s, 5.00 us\"| net2\n"
            "n1 --- |\"50.0 GB/s, 5.00 us\"| net3\n"
            "net2 --- |\"1.00 GB/s, 1.00 ms\"| net4\n"
            "net3 --- |\"1.00 GB/s, 1.00 ms\"| net4\n");
}

TEST(ClusterDiagram, LinksThatDifferAreLinesOfTheirOwn) {
  const Cluster cluster = two_zones({{LinkScope::node, "a0", "a1", rate(9e-6, 10e9), true},
                                     {LinkScope::zone, "a", "b", rate(2e-3, 2e9), false}});
  const std::string text = cluster_as_graphviz(cluster);
  EXPECT_THAT(text, HasSubstr("graph \"two \\\"zones\\\"\" {"));
  EXPECT_THAT(text, HasSubstr("n0 [label=\"a0\\n8 x h100\\ninside: 450 GB/s, 2.00 us\"];"));
  EXPECT_THAT(text, HasSubstr("n0 -- n1 [label=\"10.0 GB/s, 9.00 us\", style=dashed];"));
  EXPECT_THAT(text, HasSubstr("net4 -- net5 [label=\"2.00 GB/s, 2.00 ms, this way\", style=dashed];"));
  EXPECT_THAT(cluster_as_graphviz(two_zones()), Not(HasSubstr("dashed")));
}

TEST(ClusterDiagram, LargeClustersStaySmall) {
  std::vector<Node> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back(node("n" + std::to_string(i), "z"));
  const Cluster cluster(
      "large", {{"h100", gpu()}}, nodes,
      {{LinkLevel::within_node, rate(2e-6, 450e9)}, {LinkLevel::within_zone, rate(5e-6, 50e9)}});
  EXPECT_LT(cluster_as_mermaid(cluster).size(), 400U);
}

}  // namespace
}  // namespace sextant::test
