// Time as an interface, so that tests of the harness can control the clock.
#pragma once

namespace sextant::inline probes {

class Clock {
 public:
  Clock() = default;
  virtual ~Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Returns seconds since some fixed moment; never decreases.
  [[nodiscard]] virtual double now_s() const = 0;
};

// std::chrono::steady_clock; one for the whole program.
[[nodiscard]] const Clock& steady_clock();

// Returns the smallest observed step of the clock in seconds: its resolution. Reads the clock until it has
// moved `steps` times.
[[nodiscard]] double measure_resolution_s(const Clock& clock, int steps = 20);

}  // namespace sextant::inline probes
