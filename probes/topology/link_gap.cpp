#include "probes/topology/link_gap.h"

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "core/units.h"
#include "probes/topology/network_gap.h"

namespace sextant::inline probes {
namespace {

// Below it a message's latency, not the link's rate, decides its time.
constexpr double kLargeMessage = 4.0 * 1024 * 1024;

LinkKind kind_of(const LinkEvidence& evidence) { return link_class(*evidence.a, *evidence.b).kind; }

bool is_pcie(const LinkEvidence& evidence) {
  const LinkKind kind = kind_of(evidence);
  return kind != LinkKind::nvlink && kind != LinkKind::other_host && kind != LinkKind::unknown;
}

bool is_within_host(const LinkEvidence& evidence) { return evidence.a->host == evidence.b->host; }

// How far two GPUs are from each other in NCCL's order (PATH_... of src/graph/topo.h), as far as it matters.
enum class NcclPath { local, nvlink, pcie_switch, pcie_switches, host_bridge, system };

// The nearest that it may be: one switch and several are one kind here.
NcclPath path_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return NcclPath::nvlink;
    case LinkKind::pcie_switch:
      return NcclPath::pcie_switch;
    case LinkKind::host_bridge:
    case LinkKind::numa_node:
      return NcclPath::host_bridge;
    case LinkKind::other_numa_node:
      return NcclPath::system;
    case LinkKind::other_host:
    case LinkKind::unknown:
      break;
  }
  return NcclPath::nvlink;  // only LOC is surely too near
}

// NCCL_P2P_LEVEL by name, or by the numbers of NCCL before 2.6. Nothing for what NCCL ignores.
std::optional<NcclPath> farthest_with_peer_access(const std::string& level) {
  static const std::map<std::string, NcclPath> levels = {
      {"LOC", NcclPath::local},         {"NVL", NcclPath::nvlink},        {"NVB", NcclPath::nvlink},
      {"C2C", NcclPath::nvlink},        {"PIX", NcclPath::pcie_switch},   {"PXB", NcclPath::pcie_switches},
      {"P2C", NcclPath::pcie_switches}, {"PXN", NcclPath::pcie_switches}, {"PHB", NcclPath::host_bridge},
      {"SYS", NcclPath::system},        {"0", NcclPath::local},           {"1", NcclPath::pcie_switch},
      {"2", NcclPath::pcie_switches},   {"3", NcclPath::host_bridge},     {"4", NcclPath::system},
      {"5", NcclPath::system}};
  const auto found = levels.find(level);
  return found == levels.end() ? std::nullopt : std::optional(found->second);
}

std::string peer_disabled_by_setting(const LinkEvidence& evidence) {
  if (!evidence.is_nccl || !is_within_host(evidence)) return "";
  const std::string disabled = evidence.setting("NCCL_P2P_DISABLE");
  if (!disabled.empty() && disabled != "0") {
    return "NCCL_P2P_DISABLE=" + disabled + ": NCCL goes through the host's memory";
  }
  const std::string level = evidence.setting("NCCL_P2P_LEVEL");
  const auto farthest = farthest_with_peer_access(level);
  if (!farthest || path_of(kind_of(evidence)) <= *farthest) return "";
  return "NCCL_P2P_LEVEL=" + level + ": between GPUs as far apart NCCL goes through the host's memory";
}

std::string shared_memory_disabled(const LinkEvidence& evidence) {
  const std::string disabled = evidence.setting("NCCL_SHM_DISABLE");
  if (!evidence.is_nccl || !is_within_host(evidence) || disabled.empty() || disabled == "0") return "";
  return "NCCL_SHM_DISABLE=" + disabled + ": without peer access NCCL goes through the network";
}

std::string peer_refused(const LinkEvidence& evidence) {
  const auto status = evidence.a->peers.find(evidence.b->bus_id);
  // Another host has the same bus ids.
  if (!is_within_host(evidence) || status == evidence.a->peers.end()) return "";
  if (status->second == PeerStatus::ok || status->second == PeerStatus::unknown) return "";
  return "the driver refuses peer access (" + std::string(name_of(status->second)) +
         "): copies go through the host's memory";
}

std::string through_host(const LinkEvidence& evidence) {
  if (!evidence.is_through_host || !peer_refused(evidence).empty()) return "";
  return "CUDA offers no peer access between them: copies go through the host's memory";
}

std::string nvlinks_down(const LinkEvidence& evidence) {
  if (kind_of(evidence) != LinkKind::nvlink) return "";
  for (const GpuPlace* place : {evidence.a, evidence.b}) {
    const int active = place->active_nvlinks();
    if (active < evidence.usual_nvlinks) {
      return "GPU " + place->bus_id + " has " + std::to_string(active) +
             " active NVLinks, others of the host " + std::to_string(evidence.usual_nvlinks);
    }
  }
  return "";
}

// The first link below where the two meet for which `says` says something.
template <typename Says>
std::string first_of_links(const LinkEvidence& evidence, Says says) {
  if (!is_pcie(evidence)) return "";
  const std::size_t shared = shared_bridges(*evidence.a->pci, *evidence.b->pci);
  for (const GpuPlace* place : {evidence.a, evidence.b}) {
    for (const PciLink& link : place->pci->links_below(shared)) {
      if (const std::string text = says(link); !text.empty()) return "the way to GPU " + place->bus_id + text;
    }
  }
  return "";
}

std::string narrow_link(const LinkEvidence& evidence) {
  return first_of_links(evidence, [](const PciLink& link) -> std::string {
    if (link.width_now <= 0 || link.width_now >= link.width) return "";
    return " runs at PCIe x" + std::to_string(link.width_now) + " instead of x" + std::to_string(link.width);
  });
}

std::string slow_link(const LinkEvidence& evidence) {
  return first_of_links(evidence, [](const PciLink& link) -> std::string {
    if (link.transfers_per_s_now <= 0 || link.transfers_per_s_now >= link.transfers_per_s) return "";
    return " ran at " + format_number(link.transfers_per_s_now / 1e9) + " instead of " +
           format_number(link.transfers_per_s / 1e9) + " GT/s right after the measurement";
  });
}

std::string access_control(const LinkEvidence& evidence) {
  if (kind_of(evidence) != LinkKind::pcie_switch) return "";
  const auto& a = evidence.a->pci->iommu_group;
  const auto& b = evidence.b->pci->iommu_group;
  if (!a || !b || *a == *b) return "";
  // The kernel puts devices that can reach each other below the root into one group.
  return "they are in different IOMMU groups below one switch: access control (ACS) sends what they exchange "
         "up "
         "to the host bridge";
}

std::string between_numa_nodes(const LinkEvidence& evidence) {
  if (kind_of(evidence) != LinkKind::other_numa_node) return "";
  return "the way crosses NUMA nodes, whose link is not part of the expected rate";
}

std::string through_host_bridge(const LinkEvidence& evidence) {
  const LinkKind kind = kind_of(evidence);
  if (kind != LinkKind::host_bridge && kind != LinkKind::numa_node) return "";
  return "the way goes through the CPU's host bridge, which not every CPU forwards at full rate";
}

std::string throttled(const LinkEvidence& evidence) {
  return evidence.throttle.empty() ? "" : "a GPU was held back (" + evidence.throttle + ")";
}

std::string small_messages(const LinkEvidence& evidence) {
  if (evidence.largest_bytes <= 0 || evidence.largest_bytes >= kLargeMessage) return "";
  return "the largest message had only " + format_bytes(evidence.largest_bytes);
}

// The likeliest first.
constexpr std::array kCauses = {peer_disabled_by_setting,
                                peer_refused,
                                through_host,
                                rdma_disabled,
                                sockets_chosen,
                                other_adapter_chosen,
                                other_interface_chosen,
                                no_direct_rdma,
                                no_rdma_adapter,
                                nvlinks_down,
                                narrow_link,
                                slow_link,
                                access_control,
                                shared_memory_disabled,
                                between_numa_nodes,
                                small_messages,
                                throttled,
                                through_host_bridge};

}  // namespace

bool has_gap(const LinkEvidence& evidence) {
  return evidence.expected_bytes_per_s > 0 && evidence.measured_bytes_per_s > 0 &&
         evidence.measured_bytes_per_s < (1 - kGapFraction) * evidence.expected_bytes_per_s;
}

std::string likely_reason(const LinkEvidence& evidence) {
  if (!has_gap(evidence)) return "";
  std::string text;
  for (const auto cause : kCauses) {
    const std::string reason = cause(evidence);
    if (!reason.empty()) text += (text.empty() ? "" : "; ") + reason;
  }
  return text.empty() ? "nothing that was seen explains it" : text;
}

}  // namespace sextant::inline probes
