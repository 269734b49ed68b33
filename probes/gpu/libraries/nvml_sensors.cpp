#include <array>

#include "probes/gpu/libraries/gpu_sensors.h"
#include "probes/gpu/libraries/nvml_library.h"

namespace sextant::inline probes {
namespace {

// nvmlClockType_t and nvmlTemperatureSensors_t
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

class NoSensors final : public GpuSensors {
 public:
  explicit NoSensors(std::string absence) : absence_(std::move(absence)) {}
  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] DeviceState read(const std::string&) override { return {}; }

 private:
  std::string absence_;
};

class NvmlSensors final : public GpuSensors {
 public:
  explicit NvmlSensors(const NvmlLibrary& nvml) : nvml_(nvml), devices_(nvml) {}

  [[nodiscard]] std::string absence() const override { return ""; }

  [[nodiscard]] DeviceState read(const std::string& bus_id) override {
    DeviceState state;
    state.throttle = kNotAnswered;
    const NvmlDevice device = devices_.find(bus_id);
    if (device == nullptr) return state;
    state.sm_clock_hz = kHzPerMhz * ask(nvml_.clock, device, kSmClock);
    state.memory_clock_hz = kHzPerMhz * ask(nvml_.clock, device, kMemoryClock);
    state.power_w = kWattPerMilliwatt * ask(nvml_.power, device);
    state.temperature_c = ask(nvml_.temperature, device, kGpuTemperature);
    unsigned long long bits = 0;
    if (nvml_.throttle(device, &bits) == kNvmlSuccess) state.throttle = throttle_reasons_text(bits);
    return state;
  }

 private:
  // 0 where there is no such function or no answer.
  template <typename Function, typename... Which>
  [[nodiscard]] static double ask(Function function, NvmlDevice device, Which... which) {
    unsigned value = 0;
    return function != nullptr && function(device, which..., &value) == kNvmlSuccess ? value : 0.0;
  }

  const NvmlLibrary& nvml_;
  NvmlDevices devices_;
};

}  // namespace

std::unique_ptr<GpuSensors> make_nvml_sensors(const NvmlLibrary* nvml, const std::string& reason) {
  if (nvml == nullptr) {
    return std::make_unique<NoSensors>(reason + ": clocks, power and throttling are not recorded");
  }
  if (nvml->clock == nullptr || nvml->throttle == nullptr) {
    return std::make_unique<NoSensors>(
        "the NVML found does not tell clocks and what throttles: they are not recorded");
  }
  return std::make_unique<NvmlSensors>(*nvml);
}

std::unique_ptr<GpuSensors> make_nvml_sensors() {
  std::string reason;
  const NvmlLibrary* nvml = NvmlLibrary::open(reason);
  return make_nvml_sensors(nvml, reason);
}

std::string throttle_reasons_text(unsigned long long bits) {
  std::string text;
  for (const ThrottleReason& reason : kThrottleReasons) {
    if ((bits & reason.bit) == 0) continue;
    text += (text.empty() ? "" : "+") + std::string(reason.name);
  }
  return text;
}

}  // namespace sextant::inline probes
