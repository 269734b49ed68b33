// The state that a device was in while each sample of a measurement was taken.
#pragma once

#include <string>
#include <vector>

#include "sextant/json.h"

namespace sextant {

// Stands for what holds the device back where it does not say: it may be anything.
inline constexpr const char* kNotAnswered = "not answered";

// 0 where the device does not say.
struct DeviceState {
  double sm_clock_hz = 0;
  double memory_clock_hz = 0;
  double power_w = 0;
  double temperature_c = 0;
  std::string throttle;  // what held it back, "power_cap+thermal"; empty when nothing did; or kNotAnswered

  friend bool operator==(const DeviceState&, const DeviceState&) = default;
};

// One state a sample, in the order of the samples; column by column in a document.
struct DeviceConditions {
  std::vector<DeviceState> states;

  [[nodiscard]] int throttled() const;   // samples taken while something held the device back
  [[nodiscard]] int unanswered() const;  // samples of which that is not known
  // "12 of 40 samples throttled (power_cap), of 3 it is not known"; empty when none was and all is known.
  [[nodiscard]] std::string throttle_sentence() const;
  // "12 of 40 samples throttled (power_cap), SM clock 1.62 to 1.75 GHz, 512 to 699 W, at most 61 C"; empty
  // without states.
  [[nodiscard]] std::string sentence() const;

  friend bool operator==(const DeviceConditions&, const DeviceConditions&) = default;
  static DeviceConditions parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
