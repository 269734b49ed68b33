// A stand-in for CUDA's fp8 (e4m3): rounds to nearest, ties to even; saturates at the largest value.
#pragma once

#include <cmath>
#include <cstdint>

// CUDA's own names.
// NOLINTBEGIN(bugprone-reserved-identifier)
struct __nv_fp8_e4m3 {
  std::uint8_t bits = 0;

  __nv_fp8_e4m3() = default;
  explicit __nv_fp8_e4m3(float value) {
    constexpr int kLargest = 0x7e;  // 448
    if (std::isnan(value)) {
      bits = 0x7f;
      return;
    }
    const float size = std::fabs(value);
    int below = 0;
    while (below < kLargest && of(below + 1) <= size) ++below;
    if (below < kLargest) {
      const float down = size - of(below);
      const float up = of(below + 1) - size;
      if (up < down || (up == down && below % 2 == 1)) ++below;
    }
    bits = static_cast<std::uint8_t>(below | (std::signbit(value) ? 0x80 : 0));
  }
  explicit operator float() const {
    if ((bits & 0x7f) == 0x7f) return NAN;
    return (bits & 0x80) != 0 ? -of(bits & 0x7f) : of(bits);
  }

 private:
  // Returns the value of a pattern without a sign.
  static float of(int pattern) {
    const int exponent = pattern >> 3;
    const int mantissa = pattern & 7;
    return exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                         : std::ldexp(static_cast<float>(mantissa + 8), exponent - 10);
  }
};
// NOLINTEND(bugprone-reserved-identifier)
