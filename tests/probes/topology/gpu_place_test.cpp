#include "probes/topology/gpu_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/topology/fake_fabric.h"
#include "tests/probes/topology/pci_tree.h"

namespace sextant {
namespace {

class GpuPlaceTest : public testing::Test {
 protected:
  GpuPlaceTest() { add_five_gpus(tree_); }
  [[nodiscard]] GpuPlace place(const std::string& bus, const std::string& host = "node1") {
    return read_gpu_place(tree_.files(), fabric_, host, "0000:" + bus + ":00.0", 90,
                          {"0000:18:00.0", "0000:19:00.0"});
  }
  [[nodiscard]] LinkKind kind(const std::string& a, const std::string& b) {
    return link_class(place(a), place(b)).kind;
  }
  PciTree tree_;
  FakeFabric fabric_;
};

TEST_F(GpuPlaceTest, WithoutNvLinkTheWayThroughPcieDecides) {
  EXPECT_EQ(kind("18", "19"), LinkKind::pcie_switch);
  EXPECT_EQ(kind("18", "2a"), LinkKind::host_bridge);
  EXPECT_EQ(kind("18", "31"), LinkKind::numa_node);
  EXPECT_EQ(kind("31", "98"), LinkKind::other_numa_node);
  EXPECT_EQ(kind("18", "77"), LinkKind::unknown);
  EXPECT_EQ(link_class(place("18"), place("18", "node2")).kind, LinkKind::other_host);
}

TEST_F(GpuPlaceTest, DirectNvLinksAreCountedByPeer) {
  const NvLinkEnd to_19{true, NvLinkRemote::gpu, "0000:19:00.0"},
      to_2a{true, NvLinkRemote::gpu, "0000:2a:00.0"};
  fabric_.links_["0000:18:00.0"] = {to_19, to_19, to_2a, {}};
  const LinkClass link = link_class(place("18"), place("19"));
  EXPECT_EQ(link, (LinkClass{LinkKind::nvlink, 2, false}));
  EXPECT_EQ(link.name(), "nvlink-2");
  EXPECT_EQ(link.sentence(), "2 NVLinks");
  EXPECT_EQ(link_class(place("18"), place("2a")).nvlinks, 1);
  EXPECT_EQ(kind("18", "31"), LinkKind::numa_node);
}

TEST_F(GpuPlaceTest, ASwitchJoinsAsManyAsTheGpuWithFewerHas) {
  fabric_.links_["0000:18:00.0"] = switch_links(18);
  fabric_.links_["0000:98:00.0"] = switch_links(16, 2);
  const LinkClass link = link_class(place("18"), place("98"));
  EXPECT_EQ(link, (LinkClass{LinkKind::nvlink, 16, true}));
  EXPECT_EQ(link.sentence(), "16 NVLinks through a switch");
  EXPECT_EQ(place("98").active_nvlinks(), 16);
}

TEST_F(GpuPlaceTest, RoundTripsWithPeers) {
  fabric_.links_["0000:18:00.0"] = switch_links(1, 1);
  fabric_.status_[{"0000:18:00.0", "0000:19:00.0"}] = PeerStatus::topology_not_supported;
  const GpuPlace gpu = place("18");
  EXPECT_EQ(gpu.peers.size(), 1U);  // not itself
  EXPECT_EQ(gpu.peers.at("0000:19:00.0"), PeerStatus::topology_not_supported);
  EXPECT_EQ(GpuPlace::parse(JsonView(gpu.to_json())), gpu);
}

TEST_F(GpuPlaceTest, WithoutADriverThereIsStillTheKernel) {
  fabric_.absence_ = "NVML could not be loaded";
  fabric_.links_["0000:18:00.0"] = switch_links(18);
  EXPECT_EQ(kind("18", "19"), LinkKind::pcie_switch);
  EXPECT_TRUE(place("18").peers.empty());
}

// On whatever machine this is: links, or why none are known, in one line.
TEST(NvmlFabric, IsThereOrSaysWhyNot) {
  const auto fabric = make_nvml_fabric();
  EXPECT_TRUE(fabric->links("0000:ff:1f.7").empty());  // nobody's
  EXPECT_EQ(fabric->peer_status("0000:ff:1f.7", "0000:ff:1f.6"), PeerStatus::unknown);
  EXPECT_EQ(fabric->absence().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace sextant
