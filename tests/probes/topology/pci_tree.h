// PCI devices in a fake /sys, in the kernel's format.
#pragma once

#include <string>
#include <vector>

#include "tests/probes/harness/fake_root.h"

namespace sextant {

struct FakePciPort {
  std::string bus_id;
  std::string speed = "32.0 GT/s PCIe";
  int width = 16;
  std::string speed_now = "32.0 GT/s PCIe";
  int width_now = 16;
};

class PciTree {
 public:
  // The last port is the device. Existing ports are written again.
  void add(const std::string& host_bridge, const std::vector<FakePciPort>& way, int numa_node = 0,
           int iommu_group = -1) const {
    std::string folder = "devices/" + host_bridge;
    for (const FakePciPort& port : way) {
      folder += "/" + port.bus_id;
      const std::string name = "/sys/bus/pci/devices/" + port.bus_id;
      root_.write("/sys/" + folder + "/max_link_speed", port.speed);
      root_.write("/sys/" + folder + "/max_link_width", std::to_string(port.width));
      root_.write("/sys/" + folder + "/current_link_speed", port.speed_now);
      root_.write("/sys/" + folder + "/current_link_width", std::to_string(port.width_now));
      if (!root_.files().link_target(name)) root_.link(name, "../../../" + folder);
    }
    root_.write("/sys/" + folder + "/numa_node", std::to_string(numa_node));
    if (iommu_group >= 0) {
      root_.link("/sys/" + folder + "/iommu_group",
                 "../../../../kernel/iommu_groups/" + std::to_string(iommu_group));
    }
  }
  [[nodiscard]] SystemFiles files() const { return root_.files(); }

 private:
  FakeRoot root_;
};

// Two GPUs below one switch, a third below another root port of the same bridge, a fourth at another bridge of
// the node, a fifth at the other node.
inline void add_five_gpus(const PciTree& tree) {
  const FakePciPort root{"0000:15:01.0"}, up{"0000:16:00.0"};
  tree.add("pci0000:15", {root, up, {"0000:17:00.0"}, {"0000:18:00.0"}}, 0, 40);
  tree.add("pci0000:15", {root, up, {"0000:17:01.0"}, {"0000:19:00.0"}}, 0, 40);
  tree.add("pci0000:15", {{"0000:15:02.0"}, {"0000:2a:00.0"}}, 0, 42);
  tree.add("pci0000:30", {{"0000:30:01.0"}, {"0000:31:00.0"}}, 0, 43);
  tree.add("pci0000:97", {{"0000:97:01.0"}, {"0000:98:00.0"}}, 1, 44);
}

}  // namespace sextant
