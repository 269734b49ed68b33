// Time as an interface, so that the harness is tested with a clock that a test moves.
#pragma once

namespace sextant {

class Clock {
 public:
  Clock() = default;
  virtual ~Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Seconds since some fixed moment; never goes back.
  [[nodiscard]] virtual double now_s() const = 0;
};

// std::chrono::steady_clock; one for the whole program.
[[nodiscard]] const Clock& steady_clock();

// The smallest step that the clock was seen to make, in seconds: what a reading can tell apart. Asks the clock
// until it has moved `steps` times.
[[nodiscard]] double measure_resolution_s(const Clock& clock, int steps = 20);

}  // namespace sextant
