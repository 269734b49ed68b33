// Clocks, power, temperature and what holds a GPU back, read while it is measured. Nothing is ever set.
#pragma once

#include <memory>
#include <string>

#include "probes/harness/device_conditions.h"

namespace sextant {

class GpuSensors {
 public:
  GpuSensors() = default;
  virtual ~GpuSensors() = default;
  GpuSensors(const GpuSensors&) = delete;
  GpuSensors& operator=(const GpuSensors&) = delete;

  // Why nothing can be read, in one line; empty when it can.
  [[nodiscard]] virtual std::string absence() const = 0;
  // Of the GPU with this PCI bus id; what cannot be read is 0 or kNotAnswered. Never throws.
  [[nodiscard]] virtual DeviceState read(const std::string& bus_id) = 0;
};

struct NvmlLibrary;

// Through NVML, opened now.
[[nodiscard]] std::unique_ptr<GpuSensors> make_nvml_sensors();
// Through this one, which outlives them; null: none, and why.
[[nodiscard]] std::unique_ptr<GpuSensors> make_nvml_sensors(const NvmlLibrary* nvml, const std::string& reason);

// Names of the bits of NVML's clock event reasons that slow work down, joined with "+": "power_cap+thermal".
// Being idle and clocks that somebody set are not among them.
[[nodiscard]] std::string throttle_reasons_text(unsigned long long bits);

}  // namespace sextant
