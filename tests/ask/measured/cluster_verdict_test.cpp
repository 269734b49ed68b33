#include "ask/measured/cluster_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/data_files.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Quantity measured(double value, double spread = 0.001) {
  Quantity quantity;
  quantity.value = value;
  quantity.source = Source::measured;
  quantity.spread_fraction = spread;
  return quantity;
}

const Facts& facts() {
  static const Facts all = Facts::load(data_folder() / "gpus.json", data_folder() / "models.json");
  return all;
}

// Two machines of four GPUs, of which a type named so reaches these shares of an H100's datasheet.
Cluster cluster(const std::string& name, double matrix_share, double link_share = 0.8,
                double network_share = 1) {
  const Gpu& h100 = facts().gpu("H100-SXM-80GB");
  DeviceType type = h100.type;
  type.flop_per_s = {
      {Precision::bf16, measured(matrix_share * h100.type.flop_per_s.at(Precision::bf16).value)}};
  type.memory_bytes_per_s = measured(0.9 * h100.type.memory_bytes_per_s.value);
  LinkRate inside = h100.within_node, outside = h100.between_nodes;
  inside.bytes_per_s = measured(link_share * inside.bytes_per_s.value);
  outside.bytes_per_s = measured(network_share * outside.bytes_per_s.value);
  std::vector<Node> nodes(2);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].name = "node" + std::to_string(n);
    nodes[n].region = nodes[n].zone = "here";
    nodes[n].device_type = name;
    nodes[n].devices = 4;
  }
  LinkException odd;
  odd.scope = LinkScope::device;
  odd.from = "node0/0";
  odd.to = "node0/3";
  odd.rate = inside;
  odd.rate.bytes_per_s = measured(0.5 * inside.bytes_per_s.value);
  return Cluster("probed", {{name, type}}, nodes,
                 {{LinkLevel::within_node, inside}, {LinkLevel::within_zone, outside}}, {odd});
}

TEST(ClusterVerdict, NamesWhatIsSlowerThanPublishedMeasurements) {
  const ClusterVerdict slow = judge_cluster(cluster("nvidia-h100", 0.55), facts());
  EXPECT_THAT(slow.sentence,
              HasSubstr("Slower than it should be: H100-SXM-80GB bf16 matrix products reach 55 % of "
                        "the datasheet, usual are "));
  EXPECT_THAT(slow.sentence, HasSubstr("1 link is slower than the others."));
  ASSERT_EQ(slow.odd.size(), 1U);
  EXPECT_THAT(slow.odd.front(), HasSubstr("node0/0 to node0/3 carries "));
  EXPECT_THAT(slow.odd.front(), HasSubstr("50 % of the usual"));
  const ClusterVerdict usual = judge_cluster(cluster("nvidia-h100", 0.8), facts());
  EXPECT_THAT(usual.sentence, HasSubstr("No measured rate is below what is usual for its hardware."));
  ASSERT_EQ(usual.rates.size(), 3U);  // matrix products, memory, links of a node
  EXPECT_NEAR(usual.rates.front().share, 0.8, 1e-12);
  EXPECT_LT(*usual.rates.front().usual_low, 0.8);
  EXPECT_GT(*usual.rates.front().usual_high, 0.8);
}

TEST(ClusterVerdict, SaysThatLinksOfANodeLostHalf) {
  EXPECT_THAT(judge_cluster(cluster("nvidia-h100", 0.8, 0.5), facts()).sentence,
              HasSubstr("H100-SXM-80GB links of a node reach 50 % of the datasheet"));
}

// A site has the network that it has: 25 Gbit/s a GPU are no fault of an H100.
TEST(ClusterVerdict, DoesNotJudgeTheNetworkBetweenNodes) {
  EXPECT_THAT(judge_cluster(cluster("nvidia-h100", 0.8, 0.8, 0.06), facts()).sentence,
              HasSubstr("No measured rate is below what is usual for its hardware."));
}

TEST(ClusterVerdict, JudgesNothingThatItDoesNotKnow) {
  const ClusterVerdict unknown = judge_cluster(cluster("some-accelerator", 0.1), facts());
  EXPECT_THAT(unknown.sentence, HasSubstr("No datasheet is known for some-accelerator"));
  EXPECT_THAT(unknown.rates, IsEmpty());
  const Gpu& h100 = facts().gpu("H100-SXM-80GB");
  Node node;
  node.name = "node";
  node.region = node.zone = "here";
  node.device_type = "H100-SXM-80GB";
  node.devices = 1;
  const Cluster stated("stated", {{"H100-SXM-80GB", h100.type}}, {node},
                       {{LinkLevel::within_node, h100.within_node}});
  EXPECT_THAT(judge_cluster(stated, facts()).sentence, HasSubstr("No rate of this cluster was measured"));
}

}  // namespace
}  // namespace sextant
