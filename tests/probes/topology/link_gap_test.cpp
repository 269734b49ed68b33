#include "probes/topology/link_gap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/topology/fake_fabric.h"
#include "tests/probes/topology/pci_tree.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Two GPUs of one tree with half of what they should have, and nothing else to see.
class LinkGapTest : public testing::Test {
 protected:
  LinkGapTest() { add_five_gpus(tree_); }
  [[nodiscard]] std::string reason(const std::string& a, const std::string& b) {
    FakeFabric fabric;
    fabric.links_ = links_;
    fabric.status_ = status_;
    const auto place = [&](const std::string& bus) {
      return read_gpu_place(tree_.files(), fabric, "node1", "0000:" + bus + ":00.0", 90,
                            {"0000:18:00.0", "0000:19:00.0", "0000:2a:00.0"});
    };
    const GpuPlace one = place(a), other = place(b);
    evidence_.a = &one;
    evidence_.b = &other;
    return likely_reason(evidence_);
  }
  PciTree tree_;
  std::map<std::string, std::vector<NvLinkEnd>> links_;
  std::map<std::pair<std::string, std::string>, PeerStatus> status_;
  LinkEvidence evidence_{nullptr, nullptr, 63e9, 30e9, 0, true, false, 256e6, "", {}};
};

constexpr const char* kNothing = "nothing that was seen explains it";

TEST_F(LinkGapTest, ThereIsNoneWithinPacketHeaders) {
  evidence_.measured_bytes_per_s = 48e9;
  EXPECT_EQ(reason("18", "19"), "");
  evidence_.measured_bytes_per_s = 47e9;  // 25.4 % off
  EXPECT_EQ(reason("18", "19"), kNothing);
  evidence_.expected_bytes_per_s = 0;
  EXPECT_EQ(reason("18", "19"), "");
}

TEST_F(LinkGapTest, SettingsOfNcclExplainOnlyNccl) {
  evidence_.settings = {{"NCCL_P2P_DISABLE", "1"}};
  EXPECT_THAT(reason("18", "19"), StartsWith("NCCL_P2P_DISABLE=1: NCCL goes through the host's memory"));
  evidence_.is_nccl = false;
  EXPECT_EQ(reason("18", "19"), kNothing);
  evidence_.is_nccl = true;
  evidence_.settings = {{"NCCL_P2P_DISABLE", "0"}, {"NCCL_SHM_DISABLE", "0"}};
  EXPECT_EQ(reason("18", "19"), kNothing);
  evidence_.settings = {{"NCCL_P2P_LEVEL", "LOC"}};
  EXPECT_THAT(reason("18", "19"), HasSubstr("NCCL_P2P_LEVEL=LOC"));
  evidence_.settings = {{"NCCL_SHM_DISABLE", "1"}};
  EXPECT_THAT(reason("18", "19"), HasSubstr("through the network"));
}

TEST_F(LinkGapTest, PeerAccessUpToALevelExplainsWhatIsFarther) {
  const auto is_explained = [&](const char* level, const char* a, const char* b) {
    evidence_.settings = {{"NCCL_P2P_LEVEL", level}};
    return reason(a, b).find("NCCL_P2P_LEVEL=" + std::string(level) + ": between GPUs as far apart") == 0;
  };
  // One switch (18, 19), one host bridge (18, 2a), one NUMA node (18, 31), two NUMA nodes (18, 98).
  for (const char* level : {"NVL", "0", "LOC", "C2C"}) EXPECT_TRUE(is_explained(level, "18", "19")) << level;
  for (const char* level : {"PIX", "PXB", "1", "SYS", "nonsense", "7"}) {
    EXPECT_FALSE(is_explained(level, "18", "19")) << level;
  }
  for (const char* other : {"2a", "31"}) {
    for (const char* level : {"PIX", "PXB", "2"}) EXPECT_TRUE(is_explained(level, "18", other)) << level;
    for (const char* level : {"PHB", "3", "SYS"}) EXPECT_FALSE(is_explained(level, "18", other)) << level;
  }
  EXPECT_TRUE(is_explained("PHB", "18", "98"));
  EXPECT_TRUE(is_explained("3", "18", "98"));
  EXPECT_FALSE(is_explained("4", "18", "98"));
  links_["0000:18:00.0"] = links_["0000:19:00.0"] = switch_links(18);
  EXPECT_FALSE(is_explained("NVL", "18", "19"));
  EXPECT_TRUE(is_explained("LOC", "18", "19"));
}

TEST_F(LinkGapTest, RefusedPeerAccessIsNamed) {
  status_[{"0000:18:00.0", "0000:19:00.0"}] = PeerStatus::chipset_not_supported;
  EXPECT_THAT(reason("18", "19"), HasSubstr("refuses peer access (chipset_not_supported)"));
  evidence_.is_through_host = true;  // the same thing, said once
  EXPECT_THAT(reason("18", "19"), testing::Not(HasSubstr("CUDA offers")));
  status_.clear();
  EXPECT_THAT(reason("18", "19"), HasSubstr("CUDA offers no peer access"));
}

TEST_F(LinkGapTest, LinksThatAreDownAreCounted) {
  links_["0000:18:00.0"] = switch_links(18);
  links_["0000:19:00.0"] = switch_links(9, 9);
  evidence_.usual_nvlinks = 18;
  EXPECT_EQ(reason("18", "19"), "GPU 0000:19:00.0 has 9 active NVLinks, others of the host 18");
  evidence_.usual_nvlinks = 9;
  EXPECT_EQ(reason("18", "19"), kNothing);
}

TEST_F(LinkGapTest, ANarrowOrSlowLinkIsNamed) {
  tree_.add("pci0000:60", {{"0000:60:01.0"}, {"0000:61:00.0", "32.0 GT/s PCIe", 16, "32.0 GT/s PCIe", 8}});
  EXPECT_THAT(reason("18", "61"), StartsWith("the way to GPU 0000:61:00.0 runs at PCIe x8 instead of x16"));
  tree_.add("pci0000:70", {{"0000:70:01.0"}, {"0000:71:00.0", "32.0 GT/s PCIe", 16, "8.0 GT/s PCIe", 16}});
  EXPECT_THAT(reason("18", "71"), StartsWith("the way to GPU 0000:71:00.0 ran at 8.00 instead of 32.0 GT/s"));
}

TEST_F(LinkGapTest, AccessControlShowsInIommuGroups) {
  tree_.add("pci0000:15", {{"0000:15:01.0"}, {"0000:16:00.0"}, {"0000:17:02.0"}, {"0000:1a:00.0"}}, 0, 99);
  EXPECT_THAT(reason("18", "1a"), HasSubstr("different IOMMU groups below one switch"));
  EXPECT_EQ(reason("18", "19"), kNothing);  // one group
}

TEST_F(LinkGapTest, TheWayItselfIsNamedWhereItIsLong) {
  EXPECT_THAT(reason("31", "98"), HasSubstr("crosses NUMA nodes"));
  EXPECT_THAT(reason("18", "2a"), HasSubstr("host bridge"));
}

TEST_F(LinkGapTest, SmallMessagesAndThrottlingAreNamed) {
  evidence_.largest_bytes = 1 << 20;
  EXPECT_THAT(reason("18", "19"), HasSubstr("only 1.00 MiB"));
  evidence_.throttle = "power_cap";
  EXPECT_THAT(reason("18", "19"), testing::EndsWith("; a GPU was held back (power_cap)"));
}

}  // namespace
}  // namespace sextant
