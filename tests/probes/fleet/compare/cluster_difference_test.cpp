#include "probes/fleet/compare/cluster_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/probes/fleet/compare/two_nodes.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ClusterDifference compared(const ClusterParts& before, const ClusterParts& after) {
  return compare_clusters(before.document(), after.document());
}

// "worse: node a, devices" of all that changed, worst first.
std::vector<std::string> changed(const ClusterParts& before, const ClusterParts& after) {
  std::vector<std::string> lines;
  for (const ValueChange& change : compared(before, after).changes) {
    if (change.verdict == ChangeVerdict::same) continue;
    lines.push_back(std::string(name_of(change.verdict)) + ": " + change.where + ", " + change.what);
  }
  return lines;
}

TEST(CompareClusters, NothingDiffersFromItself) {
  EXPECT_THAT(changed(two_nodes(), two_nodes()), IsEmpty());
  const ClusterDifference difference = compared(two_nodes(), two_nodes());
  // A type has five numbers, two nodes two each, two levels two each.
  EXPECT_EQ(difference.changes.size(), 5U + 4U + 4U);
  EXPECT_EQ(difference.count(ChangeVerdict::same), difference.changes.size());
}

TEST(CompareClusters, EveryRateOfATypeCounts) {
  const std::vector<std::pair<std::string, std::function<void(DeviceType&)>>> cases = {
      {"bf16 GEMM rate", [](DeviceType& type) { type.flop_per_s.at(Precision::bf16).value *= 0.9; }},
      {"memory read rate", [](DeviceType& type) { type.memory_bytes_per_s.value *= 0.9; }},
      {"memory", [](DeviceType& type) { type.memory_bytes.value *= 0.9; }},
      {"rate to the host", [](DeviceType& type) { type.host_bytes_per_s->value *= 0.9; }},
      {"launch/kernel", [](DeviceType& type) { type.measurements.at("launch/kernel").quantity.value *= 1.1; }}};
  for (const auto& [what, change] : cases) {
    ClusterParts after = two_nodes();
    change(after.types.at("h100"));
    EXPECT_THAT(changed(two_nodes(), after), ElementsAre("worse: device type h100, " + what));
  }
}

TEST(CompareClusters, NodesComeAndGo) {
  ClusterParts more = two_nodes();
  more.nodes.push_back(more.nodes[0]);
  more.nodes.back().name = "c";
  EXPECT_THAT(changed(two_nodes(), more), ElementsAre("better: node c, devices"));
  EXPECT_THAT(changed(more, two_nodes()), ElementsAre("worse: node c, devices"));
  EXPECT_EQ(compared(more, two_nodes()).changes.front().note, "the node is gone");
}

TEST(CompareClusters, AGpuFellOut) {
  ClusterParts after = two_nodes();
  after.nodes[1].devices = 3;
  after.nodes[0].host_memory_bytes = 0.5e12;
  EXPECT_THAT(changed(two_nodes(), after), ElementsAre("worse: node a, host memory", "worse: node b, devices"));
}

TEST(CompareClusters, ANodesNetworkAndPlace) {
  ClusterParts before = two_nodes(), after = two_nodes();
  before.nodes[0].network_bytes_per_s = 50e9;
  after.nodes[0].network_bytes_per_s = 25e9;
  after.nodes[1].region = "west";
  after.nodes[1].zone = "west-rack";
  after.levels[LinkLevel::between_regions] = rate_of(1e9);
  EXPECT_THAT(changed(before, after), ElementsAre("worse: node a, network", "changed: node b, place",
                                                  "missing: links between regions, bandwidth",
                                                  "missing: links between regions, latency"));
}

TEST(CompareClusters, ATypeOfAnotherNameIsJudgedByItsRates) {
  ClusterParts after = two_nodes();
  after.types["a100"] = after.types.at("h100");
  after.types.at("a100").flop_per_s.at(Precision::bf16).value = 250e12;
  after.nodes[1].device_type = "a100";
  EXPECT_THAT(changed(two_nodes(), after),
              ElementsAre("worse: node b, bf16 GEMM rate", "changed: node b, device type"));
  EXPECT_EQ(compared(two_nodes(), after).changes[1].note, "h100 before, a100 after");
}

TEST(CompareClusters, SettingsAreAReasonAndNotWorse) {
  ClusterParts before = two_nodes(), after = two_nodes();
  before.environment = {{"NCCL_ALGO", "Ring"}, {"NCCL_DEBUG", "INFO"}, {"UCX_TLS", "rc"}};
  after.environment = {{"NCCL_ALGO", "Tree"}, {"NCCL_DEBUG", "INFO"}, {"NCCL_P2P_DISABLE", "1"}};
  const ClusterDifference difference = compared(before, after);
  EXPECT_THAT(difference.environment,
              ElementsAre(SettingChange{"NCCL_ALGO", "Ring", "Tree"},
                          SettingChange{"NCCL_P2P_DISABLE", {}, "1"}, SettingChange{"UCX_TLS", "rc", {}}));
  EXPECT_EQ(difference.count(ChangeVerdict::same), difference.changes.size());
}

TEST(ClusterDifferenceDocument, ComesBackAsItWas) {
  const std::string file = std::string(SEXTANT_TEST_DATA) + "/cluster_difference.json";
  const auto first = load_document<ClusterDifference>(file);
  const std::string text = format_document(first);
  EXPECT_EQ(parse_document<ClusterDifference>(text).content, first.content);
  EXPECT_EQ(parse_json(text), parse_json(read_text_file(file)));
  EXPECT_EQ(first.content.count(ChangeVerdict::worse), 3U);
  EXPECT_EQ(first.content.environment.size(), 2U);
}

}  // namespace
}  // namespace sextant
