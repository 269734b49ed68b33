// The alpha-beta model of a link: a message of n bytes takes alpha + n / beta.
#pragma once

#include <optional>
#include <span>

namespace sextant::inline probes {

struct TimedMessage {
  double bytes = 0;
  double time_s = 0;  // one way, > 0
};

enum class Confidence { percent_90, percent_95 };

struct AlphaBeta {
  double latency_s = 0;    // alpha
  double bytes_per_s = 0;  // beta
  // Half the interval (by default 95 %) divided by the value, by Student's t from the residuals (for beta that
  // of the slope, which is the same to first order); 0 with only two points.
  double latency_spread_fraction = 0;
  double bytes_per_s_spread_fraction = 0;
  double rms_error_fraction = 0;  // of time, root mean square over the messages

  [[nodiscard]] double time_s(double bytes) const { return latency_s + bytes / bytes_per_s; }
};

// Least squares on relative error, the sum of ((alpha + n / beta - t) / t)^2. Relative, so that the small
// messages determine alpha and the large ones beta; with absolute errors the large ones would determine both.
// Returns nullopt if there are fewer than two different sizes or the time does not grow with the size. An alpha
// below zero is replaced by the shortest time among the smallest messages.
[[nodiscard]] std::optional<AlphaBeta> fit_alpha_beta(std::span<const TimedMessage> messages,
                                                      Confidence confidence = Confidence::percent_95);

}  // namespace sextant::inline probes
