#include "probes/gpu/libraries/nvml_fabric.h"

#include "probes/topology/pci_device.h"

namespace sextant::inline probes {
namespace {

constexpr unsigned kMaxLinks = 18;  // NVML_NVLINK_MAX_LINKS
// nvmlIntNvLinkDeviceType_t
constexpr int kRemoteGpu = 0;
constexpr int kRemoteSwitch = 2;
// nvmlGpuP2PCapsIndex_t
constexpr int kPeerRead = 0;
constexpr int kPeerWrite = 1;

class NoFabric final : public GpuFabric {
 public:
  explicit NoFabric(std::string absence) : absence_(std::move(absence)) {}
  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] std::vector<NvLinkEnd> links(const std::string&) override { return {}; }
  [[nodiscard]] PeerStatus peer_status(const std::string&, const std::string&) override {
    return PeerStatus::unknown;
  }

 private:
  std::string absence_;
};

class NvmlFabric final : public GpuFabric {
 public:
  explicit NvmlFabric(const NvmlLibrary& nvml) : nvml_(nvml), devices_(nvml) {}

  [[nodiscard]] std::string absence() const override { return ""; }

  [[nodiscard]] std::vector<NvLinkEnd> links(const std::string& bus_id) override {
    std::vector<NvLinkEnd> links;
    const NvmlDevice device = devices_.find(bus_id);
    if (device == nullptr || nvml_.link_state == nullptr) return links;
    for (unsigned link = 0; link < kMaxLinks; ++link) {
      unsigned is_active = 0;
      if (nvml_.link_state(device, link, &is_active) != kNvmlSuccess) continue;
      links.push_back(is_active != 0 ? active_end(device, link) : NvLinkEnd{});
    }
    return links;
  }

  [[nodiscard]] PeerStatus peer_status(const std::string& from, const std::string& to) override {
    const NvmlDevice a = devices_.find(from);
    const NvmlDevice b = devices_.find(to);
    if (a == nullptr || b == nullptr || nvml_.peer_status == nullptr) return PeerStatus::unknown;
    for (const int index : {kPeerRead, kPeerWrite}) {
      int status = 0;
      if (nvml_.peer_status(a, b, index, &status) != kNvmlSuccess) return PeerStatus::unknown;
      if (status < 0 || status >= kPeerStatusCount) return PeerStatus::unknown;
      if (status != 0) return static_cast<PeerStatus>(status);
    }
    return PeerStatus::ok;
  }

 private:
  [[nodiscard]] NvLinkEnd active_end(NvmlDevice device, unsigned link) const {
    NvLinkEnd end;
    end.is_active = true;
    int type = -1;
    if (nvml_.link_remote_type != nullptr && nvml_.link_remote_type(device, link, &type) != kNvmlSuccess)
      type = -1;
    if (type == kRemoteSwitch) end.remote = NvLinkRemote::nvswitch;
    if (type != kRemoteGpu || nvml_.link_remote_pci == nullptr) return end;
    NvmlPciInfo info{};
    if (nvml_.link_remote_pci(device, link, &info) != kNvmlSuccess) return end;
    info.bus_id.back() = '\0';
    end.remote = NvLinkRemote::gpu;
    end.remote_bus_id = normal_bus_id(info.bus_id.data());
    return end;
  }

  const NvmlLibrary& nvml_;
  NvmlDevices devices_;
};

}  // namespace

std::unique_ptr<GpuFabric> make_nvml_fabric(const NvmlLibrary* nvml, const std::string& reason) {
  if (nvml == nullptr) return std::make_unique<NoFabric>(reason + ": NVLinks and peer status are not known");
  return std::make_unique<NvmlFabric>(*nvml);
}

std::unique_ptr<GpuFabric> make_nvml_fabric() {
  std::string reason;
  const NvmlLibrary* nvml = NvmlLibrary::open(reason);
  return make_nvml_fabric(nvml, reason);
}

}  // namespace sextant::inline probes
