// Helpers shared by the kernels of several files.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>

namespace sextant::gpu {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;  // grid-stride loops: enough to fill every GPU

// SplitMix64 (Steele, Lea, Flood, 2014) of the position.
__device__ inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

__device__ inline std::size_t first_index() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}
__device__ inline std::size_t stride() { return gridDim.x * static_cast<std::size_t>(blockDim.x); }

__device__ inline void store(float* at, float value) { *at = value; }
__device__ inline void store(__nv_bfloat16* at, float value) { *at = __float2bfloat16(value); }
__device__ inline void store(__half* at, float value) { *at = __float2half(value); }
__device__ inline double load(float value) { return value; }
__device__ inline double load(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline double load(__half value) { return __half2float(value); }
__device__ inline void store(__nv_fp8_e4m3* at, float value) { *at = __nv_fp8_e4m3(value); }
__device__ inline double load(__nv_fp8_e4m3 value) { return static_cast<float>(value); }

}  // namespace sextant::gpu
