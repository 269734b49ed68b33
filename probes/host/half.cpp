#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/host/blas.h"

namespace sextant::inline probes {
namespace {

// bfloat16 is the upper half of a float; rounds to nearest, ties to even.
HalfBits to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<HalfBits>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

// IEEE binary16: sign, 5 bits of exponent, 10 of fraction.
constexpr int kFractionBits = 10;
constexpr int kExponentBias = 15;
constexpr int kMinExponent = 1 - kExponentBias;

HalfBits to_fp16(float value) {
  const HalfBits sign = std::signbit(value) ? 0x8000 : 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (fraction == 0) return sign;
  const int scale = std::max(exponent - 1, kMinExponent);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), kFractionBits - scale)));
  // A carry out of the fraction lands in the exponent, which is what rounding up should do.
  return static_cast<HalfBits>(sign + ((scale - kMinExponent) << kFractionBits) + steps);
}

float from_fp16(HalfBits bits) {
  const int exponent = (bits >> kFractionBits) & 0x1f;
  const int fraction = bits & 0x3ff;
  const int steps = exponent == 0 ? fraction : fraction + (1 << kFractionBits);
  const int scale = std::max(exponent, 1) - kExponentBias - kFractionBits;
  const float magnitude = std::ldexp(static_cast<float>(steps), scale);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

HalfBits to_half(float value, HalfFormat format) {
  return format == HalfFormat::bf16 ? to_bf16(value) : to_fp16(value);
}

float from_half(HalfBits bits, HalfFormat format) {
  if (format == HalfFormat::fp16) return from_fp16(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace sextant::inline probes
