// Helpers shared by the proxy's kernels: eight bf16 numbers at a time, and sums over a block.
#pragma once

#include <cuda_bf16.h>

namespace sextant::gpu {

__device__ inline void load8(const __nv_bfloat16* from, float (&values)[8]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    values[2 * i] = pair.x;
    values[2 * i + 1] = pair.y;
  }
}

__device__ inline void unpack8(const uint4& raw, float (&values)[8]) {
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    values[2 * i] = pair.x;
    values[2 * i + 1] = pair.y;
  }
}

__device__ inline uint4 pack8(const float (&values)[8]) {
  uint4 raw;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
  return raw;
}

__device__ inline void store8(__nv_bfloat16* to, const float (&values)[8]) {
  *reinterpret_cast<uint4*>(to) = pack8(values);
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffU, value, lane);
  return value;
}
__device__ inline float warp_max(float value) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, lane));
  return value;
}

// Sum over all threads of a block of whole warps (at most 32), in every thread. All threads must call it.
__device__ inline float block_sum(float value) {
  __shared__ float parts[32];
  const int warps = blockDim.x / 32;
  value = warp_sum(value);
  __syncthreads();  // the parts of an earlier call have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < warps; ++warp) sum += parts[warp];
  return sum;
}
__device__ inline float block_max(float value) {
  __shared__ float parts[32];
  const int warps = blockDim.x / 32;
  value = warp_max(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float largest = parts[0];
  for (int warp = 1; warp < warps; ++warp) largest = fmaxf(largest, parts[warp]);
  return largest;
}

// Returns the same numbers as probes/proxy/model/random.h.
__device__ inline unsigned long long mix64(unsigned long long x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
__device__ inline float uniform_of(unsigned long long key) {
  return static_cast<float>(mix64(key) >> 40) * 0x1p-24F;
}

}  // namespace sextant::gpu
