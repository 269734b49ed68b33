// The end of a wait: every wait on a network has one.
#pragma once

#include <algorithm>
#include <chrono>

namespace sextant::inline probes {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns a deadline `seconds` from now.
  [[nodiscard]] static Deadline in(double seconds) {
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongest_s))));
  }

  // Returns the earlier of the two.
  [[nodiscard]] Deadline or_in(double seconds) const { return Deadline(std::min(at_, in(seconds).at_)); }

  [[nodiscard]] double left_s() const { return std::chrono::duration<double>(at_ - Clock::now()).count(); }
  [[nodiscard]] bool is_over() const { return left_s() <= 0; }
  // Returns the time left for poll(2): rounded up, so that a wait does not end early; 0 after the deadline.
  [[nodiscard]] int left_ms() const { return static_cast<int>(std::max(0.0, left_s() * 1e3 + 0.999)); }

  friend auto operator<=>(const Deadline&,
                          const Deadline&) = default;  // NOLINT(modernize-use-nullptr): its own

 private:
  static constexpr double kLongest_s = 1e6;  // poll(2) takes an int of milliseconds

  explicit Deadline(Clock::time_point at) : at_(at) {}

  Clock::time_point at_;
};

}  // namespace sextant::inline probes
