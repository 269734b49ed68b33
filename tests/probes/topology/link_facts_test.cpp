#include "probes/topology/link_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/table_file.h"
#include "sextant/error.h"
#include "tests/probes/topology/fake_fabric.h"
#include "tests/probes/topology/pci_tree.h"

namespace sextant {
namespace {

LinkFacts shipped() { return load_table<LinkFacts>(SEXTANT_SOURCE_DIR "/data/links.json"); }

GpuPlace on_pcie(const PciTree& tree, const std::string& bus_id) {
  FakeFabric none;
  return read_gpu_place(tree.files(), none, "node1", bus_id, 90, {});
}

GpuPlace switched(int links, int compute_capability, const std::string& bus_id) {
  GpuPlace place;
  place.host = "node1";
  place.bus_id = bus_id;
  place.compute_capability = compute_capability;
  place.nvlinks = switch_links(links);
  return place;
}

// Worked by hand: 32e9 x 16 x 128/130 / 8.
TEST(ExpectedRate, OfPcieIsTransfersByLanesByEncoding) {
  const PciTree tree;
  add_five_gpus(tree);
  const auto rate = expected_rate(shipped(), on_pcie(tree, "0000:18:00.0"), on_pcie(tree, "0000:2a:00.0"), 0);
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(rate->bytes_per_s, 63.015e9, 1e6);
  EXPECT_EQ(rate->formula, "PCIe 5.0 x16: 32.0 GT/s x 16 lanes x 0.985 / 8");
}

TEST(ExpectedRate, OfPcieIsThatOfTheSlowestLinkOfTheWay) {
  const PciTree tree;
  add_five_gpus(tree);
  tree.add("pci0000:60", {{"0000:60:01.0"}, {"0000:61:00.0", "8.0 GT/s PCIe", 8}});
  const auto rate = expected_rate(shipped(), on_pcie(tree, "0000:18:00.0"), on_pcie(tree, "0000:61:00.0"), 0);
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(rate->bytes_per_s, 8e9 * 8 * 128 / 130 / 8, 1);
}

TEST(ExpectedRate, LinksAboveASharedSwitchDoNotMatter) {
  const PciTree tree;
  const FakePciPort root{"0000:15:01.0", "8.0 GT/s PCIe", 4}, up{"0000:16:00.0", "8.0 GT/s PCIe", 4};
  tree.add("pci0000:15", {root, up, {"0000:17:00.0"}, {"0000:18:00.0"}});
  tree.add("pci0000:15", {root, up, {"0000:17:01.0"}, {"0000:19:00.0"}});
  const auto rate = expected_rate(shipped(), on_pcie(tree, "0000:18:00.0"), on_pcie(tree, "0000:19:00.0"), 0);
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(rate->bytes_per_s, 63.015e9, 1e6);
}

TEST(ExpectedRate, OfNvLinkIsLinksByGeneration) {
  const LinkFacts facts = shipped();
  EXPECT_EQ(expected_rate(facts, switched(18, 90, "a"), switched(18, 90, "b"), 18)->bytes_per_s, 450e9);
  EXPECT_EQ(expected_rate(facts, switched(12, 80, "a"), switched(12, 80, "b"), 12)->bytes_per_s, 300e9);
  EXPECT_EQ(expected_rate(facts, switched(18, 100, "a"), switched(18, 100, "b"), 18)->bytes_per_s, 900e9);
  EXPECT_EQ(expected_rate(facts, switched(18, 103, "a"), switched(18, 103, "b"), 18)->bytes_per_s, 900e9);
  // TU102 (RTX 2080 Ti): 50 GB/s each way by two links. P100: 80 GB/s by four.
  EXPECT_EQ(expected_rate(facts, switched(2, 75, "a"), switched(2, 75, "b"), 2)->bytes_per_s, 50e9);
  EXPECT_EQ(expected_rate(facts, switched(4, 60, "a"), switched(4, 60, "b"), 4)->bytes_per_s, 80e9);
  // One with two down is expected to have what others have.
  EXPECT_EQ(expected_rate(facts, switched(16, 90, "a"), switched(18, 90, "b"), 18)->bytes_per_s, 450e9);
}

TEST(ExpectedRate, IsNothingWhereNobodyKnows) {
  const LinkFacts facts = shipped();
  EXPECT_FALSE(expected_rate(facts, switched(18, 12, "a"), switched(18, 12, "b"), 18).has_value());
  GpuPlace elsewhere = switched(18, 90, "b");
  elsewhere.host = "node2";
  EXPECT_FALSE(expected_rate(facts, switched(18, 90, "a"), elsewhere, 18).has_value());
  const PciTree tree;
  tree.add("pci0000:00", {{"0000:00:05.0", "Unknown", 0, "Unknown", 0}}, -1);
  tree.add("pci0000:00", {{"0000:00:06.0", "Unknown", 0, "Unknown", 0}}, -1);
  const auto rate = expected_rate(facts, on_pcie(tree, "0000:00:05.0"), on_pcie(tree, "0000:00:06.0"), 0);
  EXPECT_FALSE(rate.has_value());
}

TEST(LinkFacts, RefuseWhatTheyDoNotKnow) {
  const auto parse = [](const char* text) { return LinkFacts::parse(JsonView(parse_json(text))); };
  EXPECT_THROW(parse(R"({"links": [{"name": "x", "source": "y"}]})"), Error);
  EXPECT_THROW(
      parse(R"({"links": [{"name": "x", "source": "y", "transfers_per_s": 1, "payload_fraction": 1.5}]})"),
      Error);
  const LinkFacts facts = shipped();
  EXPECT_EQ(LinkFacts::parse(JsonView(facts.to_json())).to_json(), facts.to_json());
}

}  // namespace
}  // namespace sextant
