// NVML, opened and initialised once for all users; without its header, which is not part of every toolkit: its
// binary interface is stable.
#pragma once

#include <array>
#include <map>
#include <string>

namespace sextant::inline probes {

using NvmlDevice = struct nvmlDevice_st*;
using NvmlStatus = int;
inline constexpr NvmlStatus kNvmlSuccess = 0;

// nvmlPciInfo_t of nvmlDeviceGetNvLinkRemotePciInfo_v2.
struct NvmlPciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct NvmlLibrary {
  // Returns the library, or null with the reason. Never closed or shut down.
  [[nodiscard]] static const NvmlLibrary* open(std::string& reason);

  NvmlStatus (*init)() = nullptr;
  const char* (*error_text)(NvmlStatus) = nullptr;
  NvmlStatus (*device_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  // Functions that a driver lacks stay null.
  NvmlStatus (*clock)(NvmlDevice, int kind, unsigned* mhz) = nullptr;
  NvmlStatus (*power)(NvmlDevice, unsigned* milliwatt) = nullptr;
  NvmlStatus (*temperature)(NvmlDevice, int sensor, unsigned* celsius) = nullptr;
  NvmlStatus (*throttle)(NvmlDevice, unsigned long long* bits) = nullptr;
  NvmlStatus (*link_state)(NvmlDevice, unsigned link, unsigned* is_active) = nullptr;
  NvmlStatus (*link_remote_type)(NvmlDevice, unsigned link, int* type) = nullptr;
  NvmlStatus (*link_remote_pci)(NvmlDevice, unsigned link, NvmlPciInfo*) = nullptr;
  NvmlStatus (*peer_status)(NvmlDevice, NvmlDevice, int index, int* status) = nullptr;
};

// Devices by PCI bus id, each queried once.
class NvmlDevices {
 public:
  explicit NvmlDevices(const NvmlLibrary& nvml) : nvml_(nvml) {}
  // Returns null if NVML has no device with that id.
  [[nodiscard]] NvmlDevice find(const std::string& bus_id);

 private:
  const NvmlLibrary& nvml_;
  std::map<std::string, NvmlDevice> devices_;
};

}  // namespace sextant::inline probes
