// The host's clocks, in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace sextant::trace {

[[nodiscard]] inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}
[[nodiscard]] inline std::uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }
[[nodiscard]] inline std::uint64_t nanoseconds(double seconds) {
  constexpr double kPerSecond = 1e9;  // nanoseconds
  return static_cast<std::uint64_t>(seconds * kPerSecond);
}

}  // namespace sextant::trace
