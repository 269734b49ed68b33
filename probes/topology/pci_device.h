// The place of a PCI device: the bridges above it, width and speed of its path, its NUMA node.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/harness/system_files.h"
#include "sextant/json.h"

namespace sextant::inline probes {

// One link of the path to the host bridge; 0 if the kernel does not report it.
struct PciLink {
  double transfers_per_s = 0;      // maximum that both ends support
  double transfers_per_s_now = 0;  // an idle GPU slows down its link
  int width = 0;                   // lanes that both ends have
  int width_now = 0;

  friend bool operator==(const PciLink&, const PciLink&) = default;
};

struct PciDevice {
  std::string bus_id;                // "0000:0f:00.0"
  std::string host_bridge;           // "pci0000:00"
  std::vector<std::string> bridges;  // from the root port down, without the device
  std::vector<PciLink> links;        // of its path, from the root port down
  std::optional<int> numa_node;      // nullopt if the machine has none
  std::optional<int> iommu_group;

  // Returns the links of the path below the first `shared` bridges.
  [[nodiscard]] std::vector<PciLink> links_below(std::size_t shared) const;

  friend bool operator==(const PciDevice&, const PciDevice&) = default;
  static PciDevice parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Converts "00000000:0F:00.0" (NVML) and "0000:0F:00.0" (CUDA) to "0000:0f:00.0" (the kernel).
[[nodiscard]] std::string normal_bus_id(std::string bus_id);

// Reads /sys/bus/pci/devices; nullopt if the kernel does not show the device.
[[nodiscard]] std::optional<PciDevice> read_pci_device(const SystemFiles& files, const std::string& bus_id);

// Number of bridges that two devices share, from the root port on; 0 for different host bridges.
[[nodiscard]] std::size_t shared_bridges(const PciDevice& a, const PciDevice& b);

}  // namespace sextant::inline probes
