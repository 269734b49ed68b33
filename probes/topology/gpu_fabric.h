// The driver's information on a GPU's links to other GPUs, behind a thin interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline probes {

enum class NvLinkRemote { gpu, nvswitch, other };

struct NvLinkEnd {
  bool is_active = false;
  NvLinkRemote remote = NvLinkRemote::other;
  std::string remote_bus_id;  // of a GPU, in the kernel's format

  friend bool operator==(const NvLinkEnd&, const NvLinkEnd&) = default;
};

// Whether one GPU may access another's memory, in the order of NVML's nvmlGpuP2PStatus_t.
enum class PeerStatus {
  ok,
  chipset_not_supported,
  gpu_not_supported,
  topology_not_supported,
  disabled_by_registry_key,
  not_supported,
  unknown
};
inline constexpr int kPeerStatusCount = 7;

[[nodiscard]] std::string_view name_of(PeerStatus status);

class GpuFabric {
 public:
  GpuFabric() = default;
  virtual ~GpuFabric() = default;
  GpuFabric(const GpuFabric&) = delete;
  GpuFabric& operator=(const GpuFabric&) = delete;

  // Returns why nothing is known, in one line; empty if it is.
  [[nodiscard]] virtual std::string absence() const = 0;
  // Returns every NVLink of the GPU, active or not; empty for a GPU without. Never throws.
  [[nodiscard]] virtual std::vector<NvLinkEnd> links(const std::string& bus_id) = 0;
  // Returns the worse of the status for reading and for writing. Never throws.
  [[nodiscard]] virtual PeerStatus peer_status(const std::string& from, const std::string& to) = 0;
};

// Returns the fabric through NVML, opened now.
[[nodiscard]] std::unique_ptr<GpuFabric> make_nvml_fabric();

}  // namespace sextant::inline probes
