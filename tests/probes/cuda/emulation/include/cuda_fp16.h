// A stand-in for CUDA's fp16: the same rounding, to nearest, ties to even.
#pragma once

#include <cmath>
#include <cstdint>

// CUDA's own names.
// NOLINTBEGIN(bugprone-reserved-identifier)
struct __half {
  std::uint16_t bits;
};

inline float __half2float(__half value) {
  const int exponent = value.bits >> 10 & 0x1f;
  const int mantissa = value.bits & 0x3ff;
  const float sign = (value.bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
}

inline __half __float2half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return {0x7fff};
  const float size = std::fabs(value);
  int exponent = 0;
  std::frexp(size, &exponent);
  // The spacing of representable values there; rint rounds to nearest, ties to even.
  const int step = exponent < -13 ? -24 : exponent - 11;
  const float rounded = std::ldexp(std::rint(std::ldexp(size, -step)), step);
  if (rounded >= 65520.0F) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  if (rounded < 0x1p-14F) return {static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(rounded, 24)))};
  std::frexp(rounded, &exponent);  // 0.5 <= fraction < 1
  const int mantissa = static_cast<int>(std::ldexp(rounded, 11 - exponent)) - 0x400;
  return {static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | mantissa)};
}
// NOLINTEND(bugprone-reserved-identifier)
