// NVML without its header, as in nvml_sensors.cpp.
#include <array>
#include <map>

#include "probes/cuda/library_search.h"
#include "probes/topology/gpu_fabric.h"
#include "probes/topology/pci_device.h"

namespace sextant {
namespace {

using NvmlDevice = struct nvmlDevice_st*;
using NvmlStatus = int;
constexpr NvmlStatus kSuccess = 0;
constexpr unsigned kMostLinks = 18;  // NVML_NVLINK_MAX_LINKS
// nvmlIntNvLinkDeviceType_t
constexpr int kRemoteGpu = 0;
constexpr int kRemoteSwitch = 2;
// nvmlGpuP2PCapsIndex_t
constexpr int kPeerRead = 0;
constexpr int kPeerWrite = 1;

struct NvmlPciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct Nvml {
  NvmlStatus (*init)() = nullptr;
  const char* (*error_text)(NvmlStatus) = nullptr;
  NvmlStatus (*device_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  NvmlStatus (*link_state)(NvmlDevice, unsigned link, unsigned* is_active) = nullptr;
  NvmlStatus (*link_remote_type)(NvmlDevice, unsigned link, int* type) = nullptr;
  NvmlStatus (*link_remote_pci)(NvmlDevice, unsigned link, NvmlPciInfo*) = nullptr;
  NvmlStatus (*peer_status)(NvmlDevice, NvmlDevice, int index, int* status) = nullptr;

  // Why it cannot be used; empty when it can. What older drivers lack stays null.
  [[nodiscard]] std::string open() {
    std::string reason;
    void* library = open_nvidia_library("NVML", "libnvidia-ml.so.1", reason);
    if (library == nullptr) return "NVML could not be loaded: NVLinks and peer status are not known";
    if (!find_function(library, "nvmlInit_v2", init) ||
        !find_function(library, "nvmlErrorString", error_text) ||
        !find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", device_by_bus_id)) {
      return "the NVML found lacks functions of NVML 2: NVLinks and peer status are not known";
    }
    static_cast<void>(find_function(library, "nvmlDeviceGetNvLinkState", link_state));
    static_cast<void>(find_function(library, "nvmlDeviceGetNvLinkRemoteDeviceType", link_remote_type));
    static_cast<void>(find_function(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote_pci));
    static_cast<void>(find_function(library, "nvmlDeviceGetP2PStatus", peer_status));
    const NvmlStatus status = init();
    if (status == kSuccess) return "";
    return std::string("NVML does not start (") + error_text(status) +
           "): NVLinks and peer status are not known";
  }
};

class NvmlFabric final : public GpuFabric {
 public:
  NvmlFabric() : absence_(nvml_.open()) {}

  [[nodiscard]] std::string absence() const override { return absence_; }

  [[nodiscard]] std::vector<NvLinkEnd> links(const std::string& bus_id) override {
    std::vector<NvLinkEnd> links;
    const NvmlDevice device = find(bus_id);
    if (device == nullptr || nvml_.link_state == nullptr) return links;
    for (unsigned link = 0; link < kMostLinks; ++link) {
      unsigned is_active = 0;
      if (nvml_.link_state(device, link, &is_active) != kSuccess) continue;
      links.push_back(is_active != 0 ? active_end(device, link) : NvLinkEnd{});
    }
    return links;
  }

  [[nodiscard]] PeerStatus peer_status(const std::string& from, const std::string& to) override {
    const NvmlDevice a = find(from);
    const NvmlDevice b = find(to);
    if (a == nullptr || b == nullptr || nvml_.peer_status == nullptr) return PeerStatus::unknown;
    for (const int index : {kPeerRead, kPeerWrite}) {
      int status = 0;
      if (nvml_.peer_status(a, b, index, &status) != kSuccess) return PeerStatus::unknown;
      if (status < 0 || status >= kPeerStatusCount) return PeerStatus::unknown;
      if (status != 0) return static_cast<PeerStatus>(status);
    }
    return PeerStatus::ok;
  }

 private:
  [[nodiscard]] NvmlDevice find(const std::string& bus_id) {
    if (!absence_.empty()) return nullptr;
    const auto [found, is_new] = devices_.try_emplace(bus_id, nullptr);
    if (is_new && nvml_.device_by_bus_id(bus_id.c_str(), &found->second) != kSuccess) found->second = nullptr;
    return found->second;
  }

  [[nodiscard]] NvLinkEnd active_end(NvmlDevice device, unsigned link) const {
    NvLinkEnd end;
    end.is_active = true;
    int type = -1;
    if (nvml_.link_remote_type != nullptr && nvml_.link_remote_type(device, link, &type) != kSuccess) type = -1;
    if (type == kRemoteSwitch) end.remote = NvLinkRemote::nvswitch;
    if (type != kRemoteGpu || nvml_.link_remote_pci == nullptr) return end;
    NvmlPciInfo info{};
    if (nvml_.link_remote_pci(device, link, &info) != kSuccess) return end;
    info.bus_id.back() = '\0';
    end.remote = NvLinkRemote::gpu;
    end.remote_bus_id = normal_bus_id(info.bus_id.data());
    return end;
  }

  Nvml nvml_;
  std::string absence_;
  std::map<std::string, NvmlDevice> devices_;
};

}  // namespace

std::unique_ptr<GpuFabric> make_nvml_fabric() { return std::make_unique<NvmlFabric>(); }

}  // namespace sextant
