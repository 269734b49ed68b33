// The state of a device at each sample of a measurement.
#pragma once

#include <string>
#include <vector>

#include "sextant/json.h"

namespace sextant::inline probes {

// The throttle reason of a device that does not report one: unknown.
inline constexpr const char* kNotAnswered = "not answered";

// Members are 0 if the device does not report them.
struct DeviceState {
  double sm_clock_hz = 0;
  double memory_clock_hz = 0;
  double power_w = 0;
  double temperature_c = 0;
  std::string throttle;  // reasons of throttling, "power_cap+thermal"; empty: none; or kNotAnswered

  friend bool operator==(const DeviceState&, const DeviceState&) = default;
};

// One state per sample, in the order of the samples; column by column in a document.
struct DeviceConditions {
  std::vector<DeviceState> states;

  [[nodiscard]] int throttled() const;   // samples taken while the device was throttled
  [[nodiscard]] int unanswered() const;  // samples for which that is not known
  // "12 of 40 samples throttled (power_cap), of 3 it is not known"; empty if none was and all are known.
  [[nodiscard]] std::string throttle_sentence() const;
  // "12 of 40 samples throttled (power_cap), SM clock 1.62 to 1.75 GHz, 512 to 699 W, at most 61 C"; empty
  // without states.
  [[nodiscard]] std::string sentence() const;

  friend bool operator==(const DeviceConditions&, const DeviceConditions&) = default;
  static DeviceConditions parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline probes
