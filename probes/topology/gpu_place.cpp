#include "probes/topology/gpu_place.h"

#include <algorithm>
#include <array>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::string_view, kPeerStatusCount> kPeerNames = {"ok",
                                                                       "chipset_not_supported",
                                                                       "gpu_not_supported",
                                                                       "topology_not_supported",
                                                                       "disabled_by_registry_key",
                                                                       "not_supported",
                                                                       "unknown"};
constexpr std::array<std::string_view, kLinkKindCount> kKindNames = {
    "nvlink", "pcie_switch", "host_bridge", "numa_node", "other_numa_node", "other_host", "unknown"};
constexpr std::array<std::string_view, kLinkKindCount> kKindSentences = {
    "NVLink",
    "PCIe through one switch",
    "PCIe through one host bridge",
    "PCIe through two host bridges of one NUMA node",
    "PCIe and the link between two NUMA nodes",
    "the network between two hosts",
    "a way that the kernel does not show"};
constexpr std::array<std::string_view, 3> kRemoteNames = {"gpu", "nvswitch", "other"};

int count_links(const GpuPlace& from, NvLinkRemote remote, const std::string& bus_id) {
  return static_cast<int>(std::count_if(from.nvlinks.begin(), from.nvlinks.end(), [&](const NvLinkEnd& link) {
    return link.is_active && link.remote == remote && (bus_id.empty() || link.remote_bus_id == bus_id);
  }));
}

LinkKind pcie_kind(const GpuPlace& a, const GpuPlace& b) {
  if (!a.pci || !b.pci) return LinkKind::unknown;
  if (shared_bridges(*a.pci, *b.pci) > 0) return LinkKind::pcie_switch;
  if (a.pci->host_bridge == b.pci->host_bridge) return LinkKind::host_bridge;
  // A machine without NUMA nodes has one memory.
  return a.pci->numa_node == b.pci->numa_node ? LinkKind::numa_node : LinkKind::other_numa_node;
}

}  // namespace

std::string_view name_of(PeerStatus status) { return kPeerNames[static_cast<std::size_t>(status)]; }
std::string_view name_of(LinkKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

int GpuPlace::active_nvlinks() const {
  return static_cast<int>(
      std::count_if(nvlinks.begin(), nvlinks.end(), [](const NvLinkEnd& link) { return link.is_active; }));
}

GpuPlace read_gpu_place(const SystemFiles& files, GpuFabric& fabric, const std::string& host,
                        const std::string& bus_id, int compute_capability,
                        const std::vector<std::string>& others) {
  GpuPlace place;
  place.host = host;
  place.bus_id = normal_bus_id(bus_id);
  place.compute_capability = compute_capability;
  place.pci = read_pci_device(files, place.bus_id);
  place.adapters = read_network_adapters(files);
  if (!fabric.absence().empty()) return place;
  place.nvlinks = fabric.links(place.bus_id);
  for (const std::string& other : others) {
    const std::string peer = normal_bus_id(other);
    if (peer != place.bus_id) place.peers[peer] = fabric.peer_status(place.bus_id, peer);
  }
  return place;
}

std::string LinkClass::name() const {
  return kind == LinkKind::nvlink ? "nvlink-" + std::to_string(nvlinks) : std::string(name_of(kind));
}

std::string LinkClass::sentence() const {
  if (kind != LinkKind::nvlink) return std::string(kKindSentences[static_cast<std::size_t>(kind)]);
  return std::to_string(nvlinks) + (nvlinks == 1 ? " NVLink" : " NVLinks") +
         (is_switched ? " through a switch" : "");
}

LinkClass link_class(const GpuPlace& a, const GpuPlace& b) {
  if (a.host != b.host) return {LinkKind::other_host, 0, false};
  if (const int direct = count_links(a, NvLinkRemote::gpu, b.bus_id); direct > 0) {
    return {LinkKind::nvlink, direct, false};
  }
  // Switches of one host are all connected.
  const int switched =
      std::min(count_links(a, NvLinkRemote::nvswitch, ""), count_links(b, NvLinkRemote::nvswitch, ""));
  if (switched > 0) return {LinkKind::nvlink, switched, true};
  return {pcie_kind(a, b), 0, false};
}

GpuPlace GpuPlace::parse(const JsonView& view) {
  GpuPlace place;
  place.host = view.required("host").text();
  place.bus_id = view.required("bus_id").any_text();
  place.compute_capability = view.required("compute_capability").count();
  if (const auto pci = view.optional("pci")) place.pci = PciDevice::parse(*pci);
  for (const JsonView& link : view.required("nvlinks").items()) {
    NvLinkEnd end;
    end.is_active = link.required("is_active").flag();
    end.remote =
        static_cast<NvLinkRemote>(link.required("remote").one_of({kRemoteNames.begin(), kRemoteNames.end()}));
    if (const auto bus_id = link.optional("remote_bus_id")) end.remote_bus_id = bus_id->text();
    place.nvlinks.push_back(std::move(end));
  }
  for (const auto& [peer, status] : view.required("peers").members()) {
    place.peers[peer] = static_cast<PeerStatus>(status.one_of({kPeerNames.begin(), kPeerNames.end()}));
  }
  for (const JsonView& adapter : view.required("adapters").items()) {
    place.adapters.push_back(NetworkAdapter::parse(adapter));
  }
  return place;
}

Json GpuPlace::to_json() const {
  Json json = {{"host", host}, {"bus_id", bus_id}, {"compute_capability", compute_capability}};
  if (pci) json["pci"] = pci->to_json();
  json["nvlinks"] = Json::array();
  for (const NvLinkEnd& link : nvlinks) {
    Json end = {{"is_active", link.is_active}, {"remote", kRemoteNames[static_cast<std::size_t>(link.remote)]}};
    if (!link.remote_bus_id.empty()) end["remote_bus_id"] = link.remote_bus_id;
    json["nvlinks"].push_back(std::move(end));
  }
  json["peers"] = Json::object();
  for (const auto& [peer, status] : peers) json["peers"][peer] = name_of(status);
  json["adapters"] = Json::array();
  for (const NetworkAdapter& adapter : adapters) json["adapters"].push_back(adapter.to_json());
  return json;
}

}  // namespace sextant::inline probes
