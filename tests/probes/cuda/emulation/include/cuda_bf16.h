// A stand-in for CUDA's bf16: the same rounding, to nearest, ties to even.
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_runtime_api.h>

// CUDA's own names.
// NOLINTBEGIN(bugprone-reserved-identifier)
struct __nv_bfloat16 {
  std::uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof bits);
  return result;
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {0x7fff};  // NaN
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>(bits >> 16)};
}
inline float2 __bfloat1622float2(__nv_bfloat162 pair) {
  return {__bfloat162float(pair.x), __bfloat162float(pair.y)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16(x), __float2bfloat16(y)};
}
// NOLINTEND(bugprone-reserved-identifier)
