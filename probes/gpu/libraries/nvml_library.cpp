#include "probes/gpu/libraries/nvml_library.h"

#include <memory>

#include "probes/gpu/libraries/library_search.h"

namespace sextant::inline probes {
namespace {

// The name of a missing function that nothing goes without; empty when all are there.
std::string load(void* library, NvmlLibrary& nvml) {
  std::string missing;
  const auto want = [&](const char* name, auto& function) {
    if (!find_function(library, name, function) && missing.empty()) missing = name;
  };
  const auto like = [&](const char* name, auto& function) {
    if (function == nullptr) static_cast<void>(find_function(library, name, function));
  };
  want("nvmlInit_v2", nvml.init);
  want("nvmlErrorString", nvml.error_text);
  want("nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_bus_id);
  like("nvmlDeviceGetClockInfo", nvml.clock);
  like("nvmlDeviceGetPowerUsage", nvml.power);
  like("nvmlDeviceGetTemperature", nvml.temperature);
  // Renamed with driver 535 (CUDA 12.2); the drivers since then have both names.
  like("nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle);
  like("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle);
  like("nvmlDeviceGetNvLinkState", nvml.link_state);
  like("nvmlDeviceGetNvLinkRemoteDeviceType", nvml.link_remote_type);
  like("nvmlDeviceGetNvLinkRemotePciInfo_v2", nvml.link_remote_pci);
  like("nvmlDeviceGetP2PStatus", nvml.peer_status);
  return missing;
}

}  // namespace

const NvmlLibrary* NvmlLibrary::open(std::string& reason) {
  static std::string failure_reason;
  static const std::unique_ptr<const NvmlLibrary> opened = []() -> std::unique_ptr<const NvmlLibrary> {
    std::string loaders;  // names folders of this machine, which help nobody
    void* library = open_nvidia_library("NVML", "libnvidia-ml.so.1", loaders);
    failure_reason = "NVML could not be loaded";
    if (library == nullptr) return nullptr;
    auto functions = std::make_unique<NvmlLibrary>();
    const std::string missing = load(library, *functions);
    failure_reason = "the NVML found has no " + missing;
    if (!missing.empty()) return nullptr;
    const NvmlStatus status = functions->init();
    failure_reason = std::string("NVML does not start (") + functions->error_text(status) + ")";
    if (status != kNvmlSuccess) return nullptr;
    failure_reason.clear();
    return functions;
  }();
  reason = failure_reason;
  return opened.get();
}

NvmlDevice NvmlDevices::find(const std::string& bus_id) {
  const auto [found, is_new] = devices_.try_emplace(bus_id, nullptr);
  if (is_new && nvml_.device_by_bus_id(bus_id.c_str(), &found->second) != kNvmlSuccess) found->second = nullptr;
  return found->second;
}

}  // namespace sextant::inline probes
