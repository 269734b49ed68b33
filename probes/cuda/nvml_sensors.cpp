// NVML without its header, which is not part of every toolkit: its binary interface is stable.
#include <array>
#include <map>

#include "probes/cuda/gpu_sensors.h"
#include "probes/cuda/library_search.h"

namespace sextant {
namespace {

using NvmlDevice = struct nvmlDevice_st*;
using NvmlStatus = int;  // 0: success
constexpr NvmlStatus kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuTemperature = 0;
constexpr double kHzPerMhz = 1e6;
constexpr double kWattPerMilliwatt = 1e-3;

struct ThrottleReason {
  unsigned long long bit;
  const char* name;
};
// nvmlClocksEventReasons of nvml.h.
constexpr std::array<ThrottleReason, 5> kThrottleReasons = {{{0x4, "power_cap"},
                                                             {0x8, "hardware_slowdown"},
                                                             {0x20, "thermal"},
                                                             {0x40, "hardware_thermal"},
                                                             {0x80, "power_brake"}}};

struct Nvml {
  NvmlStatus (*init)() = nullptr;
  const char* (*error_text)(NvmlStatus) = nullptr;
  NvmlStatus (*device_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  NvmlStatus (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlStatus (*power)(NvmlDevice, unsigned*) = nullptr;
  NvmlStatus (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlStatus (*throttle)(NvmlDevice, unsigned long long*) = nullptr;

  // Why it cannot be used; empty when it can.
  [[nodiscard]] std::string open() {
    std::string reason;
    void* library = open_nvidia_library("NVML", "libnvidia-ml.so.1", reason);
    if (library == nullptr) return "NVML could not be loaded: clocks, power and throttling are not recorded";
    std::string missing;
    const auto want = [&](const char* name, auto& function) {
      if (!find_function(library, name, function) && missing.empty()) missing = name;
    };
    want("nvmlInit_v2", init);
    want("nvmlErrorString", error_text);
    want("nvmlDeviceGetHandleByPciBusId_v2", device_by_bus_id);
    want("nvmlDeviceGetClockInfo", clock);
    want("nvmlDeviceGetPowerUsage", power);
    want("nvmlDeviceGetTemperature", temperature);
    want("nvmlDeviceGetCurrentClocksThrottleReasons", throttle);
    if (!missing.empty())
      return "the NVML found has no " + missing + ": clocks and throttling are not recorded";
    const NvmlStatus status = init();
    if (status == kSuccess) return "";
    return std::string("NVML does not start (") + error_text(status) +
           "): clocks, power and throttling are not recorded";
  }
};

class NvmlSensors final : public GpuSensors {
 public:
  NvmlSensors() : absence_(nvml_.open()) {}

  [[nodiscard]] std::string absence() const override { return absence_; }

  [[nodiscard]] DeviceState read(const std::string& bus_id) override {
    DeviceState state;
    if (!absence_.empty()) return state;
    const NvmlDevice device = find(bus_id);
    if (device == nullptr) return state;
    unsigned value = 0;
    if (nvml_.clock(device, kSmClock, &value) == kSuccess) state.sm_clock_hz = kHzPerMhz * value;
    if (nvml_.clock(device, kMemoryClock, &value) == kSuccess) state.memory_clock_hz = kHzPerMhz * value;
    if (nvml_.power(device, &value) == kSuccess) state.power_w = kWattPerMilliwatt * value;
    if (nvml_.temperature(device, kGpuTemperature, &value) == kSuccess) state.temperature_c = value;
    unsigned long long bits = 0;
    if (nvml_.throttle(device, &bits) == kSuccess) state.throttle = throttle_reasons_text(bits);
    return state;
  }

 private:
  [[nodiscard]] NvmlDevice find(const std::string& bus_id) {
    const auto [found, is_new] = devices_.try_emplace(bus_id, nullptr);
    if (is_new && nvml_.device_by_bus_id(bus_id.c_str(), &found->second) != kSuccess) found->second = nullptr;
    return found->second;
  }

  Nvml nvml_;
  std::string absence_;
  std::map<std::string, NvmlDevice> devices_;
};

}  // namespace

std::unique_ptr<GpuSensors> make_nvml_sensors() { return std::make_unique<NvmlSensors>(); }

std::string throttle_reasons_text(unsigned long long bits) {
  std::string text;
  for (const ThrottleReason& reason : kThrottleReasons) {
    if ((bits & reason.bit) == 0) continue;
    text += (text.empty() ? "" : "+") + std::string(reason.name);
  }
  return text;
}

}  // namespace sextant
