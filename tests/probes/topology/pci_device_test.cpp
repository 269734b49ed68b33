#include "probes/topology/pci_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/probes/topology/pci_tree.h"

namespace sextant {
namespace {

using testing::ElementsAre;

class PciDeviceTest : public testing::Test {
 protected:
  PciDeviceTest() { add_five_gpus(tree_); }
  [[nodiscard]] PciDevice read(const std::string& bus_id) const {
    const auto device = read_pci_device(tree_.files(), bus_id);
    if (!device) throw std::runtime_error("no " + bus_id);
    return *device;
  }
  PciTree tree_;
};

TEST(BusIds, OfAllLibrariesAreTheKernels) {
  EXPECT_EQ(normal_bus_id("00000000:0F:00.0"), "0000:0f:00.0");
  EXPECT_EQ(normal_bus_id("0000:0F:00.0"), "0000:0f:00.0");
  EXPECT_EQ(normal_bus_id("00010000:0F:00.0"), "10000:0f:00.0");
  EXPECT_EQ(normal_bus_id("odd"), "odd");
}

TEST_F(PciDeviceTest, TheWayIsWhatTheKernelsPathSays) {
  const PciDevice gpu = read("00000000:18:00.0");
  EXPECT_EQ(gpu.bus_id, "0000:18:00.0");
  EXPECT_EQ(gpu.host_bridge, "pci0000:15");
  EXPECT_THAT(gpu.bridges, ElementsAre("0000:15:01.0", "0000:16:00.0", "0000:17:00.0"));
  EXPECT_EQ(gpu.links.size(), 2U);  // to the switch, and from it
  EXPECT_EQ(gpu.links[1].transfers_per_s, 32e9);
  EXPECT_EQ(gpu.links[1].width, 16);
  EXPECT_EQ(gpu.numa_node, 0);
  EXPECT_EQ(gpu.iommu_group, 40);
  EXPECT_EQ(PciDevice::parse(JsonView(gpu.to_json())), gpu);
}

TEST_F(PciDeviceTest, DevicesShareBridgesFromTheRootOn) {
  EXPECT_EQ(shared_bridges(read("0000:18:00.0"), read("0000:19:00.0")), 2U);
  EXPECT_EQ(shared_bridges(read("0000:18:00.0"), read("0000:2a:00.0")), 0U);
  EXPECT_EQ(shared_bridges(read("0000:18:00.0"), read("0000:31:00.0")), 0U);
  EXPECT_EQ(read("0000:18:00.0").links_below(2).size(), 1U);
  EXPECT_EQ(read("0000:18:00.0").links_below(0).size(), 2U);
}

TEST_F(PciDeviceTest, ALinkIsAsNarrowAndSlowAsItsWorseEnd) {
  tree_.add("pci0000:40", {{"0000:40:01.0", "16.0 GT/s PCIe", 8, "16.0 GT/s PCIe", 4},
                           {"0000:41:00.0", "32.0 GT/s PCIe", 16, "2.5 GT/s PCIe", 4}});
  const PciLink link = read("0000:41:00.0").links.at(0);
  EXPECT_EQ(link.transfers_per_s, 16e9);
  EXPECT_EQ(link.width, 8);
  EXPECT_EQ(link.transfers_per_s_now, 2.5e9);
  EXPECT_EQ(link.width_now, 4);
}

TEST_F(PciDeviceTest, WhatAVirtualMachineHidesIsUnknown) {
  tree_.add("pci0000:00", {{"0000:00:05.0", "Unknown", 255, "Unknown", 0}}, -1);
  const PciDevice gpu = read("0000:00:05.0");
  EXPECT_TRUE(gpu.bridges.empty());
  EXPECT_EQ(gpu.links, std::vector<PciLink>{PciLink{}});
  EXPECT_FALSE(gpu.numa_node.has_value());
  EXPECT_FALSE(gpu.iommu_group.has_value());
}

TEST_F(PciDeviceTest, ADeviceThatTheKernelDoesNotShowIsNothing) {
  EXPECT_FALSE(read_pci_device(tree_.files(), "0000:ff:00.0").has_value());
}

}  // namespace
}  // namespace sextant
