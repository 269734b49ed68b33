#include "probes/link/alpha_beta.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::inline probes {
namespace {

// Student's t by degrees of freedom, the 97.5 % point (95 % for an interval of 90 %); beyond the table the
// normal distribution's with a correction that is within 1 % from 11 on.
double student_t(std::size_t degrees, Confidence confidence) {
  constexpr std::array<double, 10> kTable95 = {12.706, 4.303, 3.182, 2.776, 2.571,
                                               2.447,  2.365, 2.306, 2.262, 2.228};
  constexpr std::array<double, 10> kTable90 = {6.314, 2.920, 2.353, 2.132, 2.015,
                                               1.943, 1.895, 1.860, 1.833, 1.812};
  if (degrees == 0) return 0;
  const bool is_95 = confidence == Confidence::percent_95;
  if (degrees <= kTable95.size()) return (is_95 ? kTable95 : kTable90)[degrees - 1];
  return is_95 ? 1.96 + 2.5 / static_cast<double>(degrees) : 1.645 + 1.6 / static_cast<double>(degrees);
}

// Normal equations of the rows (1 / t, n / t) against 1, with n in units of the largest message so that the
// sums are of one magnitude.
struct Sums {
  double uu = 0, uv = 0, vv = 0, u = 0, v = 0;
  [[nodiscard]] double determinant() const { return uu * vv - uv * uv; }
};

Sums sums_of(std::span<const TimedMessage> messages, double unit_bytes) {
  Sums sums;
  for (const TimedMessage& message : messages) {
    const double u = 1 / message.time_s;
    const double v = message.bytes / unit_bytes / message.time_s;
    sums.uu += u * u;
    sums.uv += u * v;
    sums.vv += v * v;
    sums.u += u;
    sums.v += v;
  }
  return sums;
}

double shortest_time_s(std::span<const TimedMessage> messages) {
  const auto before = [](const TimedMessage& a, const TimedMessage& b) {
    return std::pair(a.bytes, a.time_s) < std::pair(b.bytes, b.time_s);
  };
  return std::min_element(messages.begin(), messages.end(), before)->time_s;
}

double squared_errors(std::span<const TimedMessage> messages, double latency_s, double s_per_byte) {
  double sum = 0;
  for (const TimedMessage& message : messages) {
    const double error = (latency_s + message.bytes * s_per_byte) / message.time_s - 1;
    sum += error * error;
  }
  return sum;
}

}  // namespace

std::optional<AlphaBeta> fit_alpha_beta(std::span<const TimedMessage> messages, Confidence confidence) {
  double unit_bytes = 0;
  double min_bytes = messages.empty() ? 0 : messages.front().bytes;
  for (const TimedMessage& message : messages) {
    if (!(message.time_s > 0)) return std::nullopt;
    unit_bytes = std::max(unit_bytes, message.bytes);
    min_bytes = std::min(min_bytes, message.bytes);
  }
  if (!(unit_bytes > min_bytes)) return std::nullopt;
  const Sums sums = sums_of(messages, unit_bytes);
  double latency_s = (sums.u * sums.vv - sums.v * sums.uv) / sums.determinant();
  const double s_per_byte = (sums.v * sums.uu - sums.u * sums.uv) / sums.determinant() / unit_bytes;
  if (!(s_per_byte > 0) || !std::isfinite(latency_s)) return std::nullopt;
  if (latency_s <= 0) latency_s = shortest_time_s(messages);

  const double errors = squared_errors(messages, latency_s, s_per_byte);
  const std::size_t degrees = messages.size() - 2;
  const double variance = degrees > 0 ? errors / static_cast<double>(degrees) : 0;
  const double t = student_t(degrees, confidence);
  const double latency_half_s = t * std::sqrt(variance * sums.vv / sums.determinant());
  const double slope_half = t * std::sqrt(variance * sums.uu / sums.determinant()) / unit_bytes;

  AlphaBeta fit;
  fit.latency_s = latency_s;
  fit.bytes_per_s = 1 / s_per_byte;
  fit.latency_spread_fraction = latency_half_s / latency_s;
  fit.bytes_per_s_spread_fraction = slope_half / s_per_byte;
  fit.rms_error_fraction = std::sqrt(errors / static_cast<double>(messages.size()));
  return fit;
}

}  // namespace sextant::inline probes
