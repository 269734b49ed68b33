// Numbers for people. Documents hold SI numbers only; every table and message uses these.
#pragma once

#include <string>

namespace sextant::inline core {

inline constexpr double kBitsPerByte = 8;

[[nodiscard]] std::string format_seconds(double seconds);                   // "1.23 s", "45.6 ms", "7.80 us"
[[nodiscard]] std::string format_bytes(double bytes);                       // "1.50 GiB" (2^30)
[[nodiscard]] std::string format_bytes_per_s(double bytes_per_s);           // "12.3 GB/s" (1e9)
[[nodiscard]] std::string format_flop_per_s(double flop_per_s);             // "123 GFLOP/s"
[[nodiscard]] std::string format_percent(double fraction, int digits = 1);  // 0.123 -> "12.3 %"
// Three significant digits without an exponent between 1e-3 and 1e6.
[[nodiscard]] std::string format_number(double value);

}  // namespace sextant::inline core
