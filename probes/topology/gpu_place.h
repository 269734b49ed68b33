// The place of a GPU in its host, and the kind of link between two GPUs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/harness/system_files.h"
#include "probes/topology/gpu_fabric.h"
#include "probes/topology/network_adapter.h"
#include "probes/topology/pci_device.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct GpuPlace {
  std::string host;
  std::string bus_id;            // in the kernel's format
  int compute_capability = 0;    // 90 for 9.0
  std::optional<PciDevice> pci;  // nullopt if the kernel does not show it
  std::vector<NvLinkEnd> nvlinks;
  std::map<std::string, PeerStatus> peers;  // by bus id, for the host's other GPUs
  std::vector<NetworkAdapter> adapters;     // adapters of the host

  [[nodiscard]] int active_nvlinks() const;

  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
  static GpuPlace parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// others: bus ids of the host's GPUs, whose peer status is queried.
[[nodiscard]] GpuPlace read_gpu_place(const SystemFiles& files, GpuFabric& fabric, const std::string& host,
                                      const std::string& bus_id, int compute_capability,
                                      const std::vector<std::string>& others);

enum class LinkKind {
  nvlink,
  pcie_switch,      // one PCIe switch, or several below one root port
  host_bridge,      // two root ports of one host bridge
  numa_node,        // two host bridges of one NUMA node
  other_numa_node,  // through the link between CPUs
  other_host,       // through the network
  unknown           // the kernel does not show the place of one of them
};
inline constexpr int kLinkKindCount = 7;

[[nodiscard]] std::string_view name_of(LinkKind kind);

struct LinkClass {
  LinkKind kind = LinkKind::unknown;
  int nvlinks = 0;  // active ones between the two
  bool is_switched = false;

  [[nodiscard]] std::string name() const;  // "nvlink-18", "host_bridge": links of one name are fitted together
  [[nodiscard]] std::string sentence() const;  // "18 NVLinks through a switch"
  friend bool operator==(const LinkClass&, const LinkClass&) = default;
};

// Returns NVLink if there is one, else the level at which the two paths through PCIe meet.
[[nodiscard]] LinkClass link_class(const GpuPlace& a, const GpuPlace& b);

}  // namespace sextant::inline probes
