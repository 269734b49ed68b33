#include "core/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

namespace sextant::inline core {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

// Three significant digits, all of them before the point when there are more.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) {
    return printed("%.0f", value);
  }
  return printed(size >= 9.995 ? "%.1f" : "%.2f", value);
}

// The largest unit that leaves at least 1 after rounding; units go from large to small.
std::string in_units(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) {
    const auto whole =
        std::find_if(units.begin(), units.end(), [](const Unit& unit) { return unit.size == 1; });
    return printed("%g", value) + " " + std::string(whole->name);
  }
  constexpr double kRoundsToOne = 0.9995;
  for (const Unit& unit : units) {
    if (std::fabs(value) >= kRoundsToOne * unit.size) {
      return three_digits(value / unit.size) + " " + std::string(unit.name);
    }
  }
  return printed("%.3g", value / units.back().size) + " " + std::string(units.back().name);
}

}  // namespace

std::string format_seconds(double seconds) {
  constexpr std::array<Unit, 4> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  return seconds == 0 ? "0 s" : in_units(seconds, kUnits);
}

std::string format_bytes(double bytes) {
  constexpr double kKibi = 1024;
  constexpr std::array<Unit, 6> kUnits{{{kKibi * kKibi * kKibi * kKibi * kKibi, "PiB"},
                                        {kKibi * kKibi * kKibi * kKibi, "TiB"},
                                        {kKibi * kKibi * kKibi, "GiB"},
                                        {kKibi * kKibi, "MiB"},
                                        {kKibi, "KiB"},
                                        {1, "B"}}};
  if (std::fabs(bytes) < kKibi && bytes == std::floor(bytes)) {
    return printed("%.0f", bytes) + " B";
  }
  return in_units(bytes, kUnits);
}

std::string format_bytes_per_s(double bytes_per_s) {
  constexpr std::array<Unit, 5> kUnits{
      {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
  return in_units(bytes_per_s, kUnits);
}

std::string format_flop_per_s(double flop_per_s) {
  constexpr std::array<Unit, 6> kUnits{{{1e15, "PFLOP/s"},
                                        {1e12, "TFLOP/s"},
                                        {1e9, "GFLOP/s"},
                                        {1e6, "MFLOP/s"},
                                        {1e3, "kFLOP/s"},
                                        {1, "FLOP/s"}}};
  return in_units(flop_per_s, kUnits);
}

std::string format_percent(double fraction, int digits) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits before its point
  std::snprintf(buffer.data(), buffer.size(), "%.*f %%", digits, 100 * fraction);
  const std::string text = buffer.data();
  // A number that is rounded to zero has no sign.
  const bool is_zero = text.find_first_of("123456789ain") == std::string::npos;
  return is_zero && text.front() == '-' ? text.substr(1) : text;
}

std::string format_number(double value) {
  const double size = std::fabs(value);
  if (value == 0) {
    return "0";
  }
  if (!std::isfinite(value) || size < 1e-3 || size >= 1e6) {
    return printed("%.3g", value);
  }
  if (size >= 0.9995) {
    return three_digits(value);
  }
  const int digits = size >= 0.09995 ? 3 : size >= 0.009995 ? 4 : 5;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

}  // namespace sextant::inline core
