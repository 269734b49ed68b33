// Reads clocks, power, temperature and throttle reasons of a GPU during measurements. Never changes settings.
#pragma once

#include <memory>
#include <string>

#include "probes/harness/device_conditions.h"

namespace sextant::inline probes {

class GpuSensors {
 public:
  GpuSensors() = default;
  virtual ~GpuSensors() = default;
  GpuSensors(const GpuSensors&) = delete;
  GpuSensors& operator=(const GpuSensors&) = delete;

  // Returns why no sensor can be read, in one line; empty if it can.
  [[nodiscard]] virtual std::string absence() const = 0;
  // Reads the GPU with this PCI bus id; unreadable values are 0 or kNotAnswered. Never throws.
  [[nodiscard]] virtual DeviceState read(const std::string& bus_id) = 0;
};

struct NvmlLibrary;

// Returns sensors through NVML, opened now.
[[nodiscard]] std::unique_ptr<GpuSensors> make_nvml_sensors();
// Returns sensors through this library, which outlives them; null: none, with the reason.
[[nodiscard]] std::unique_ptr<GpuSensors> make_nvml_sensors(const NvmlLibrary* nvml, const std::string& reason);

// Returns the names of NVML's clock event reasons that slow work down, joined with "+": "power_cap+thermal".
// Idling and clocks set by a user are not among them.
[[nodiscard]] std::string throttle_reasons_text(unsigned long long bits);

}  // namespace sextant::inline probes
