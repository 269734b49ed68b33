// Kernels on a CPU: blocks run one after another, the threads of a block as fibers that switch when they wait
// for each other.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

// The threads to wait for: all of the block, or of the warp.
enum class EmulatedWait { none, warp, block };
void emulated_wait(EmulatedWait what);
// The value that a thread shows to its warp, in two slots in turn, so that none is written while it is read.
struct EmulatedLane {
  std::uint64_t shown[2] = {};
  unsigned turn = 0;
};
inline std::array<EmulatedLane, 1024> emulated_lanes;
void emulated_run(const EmulatedShape& shape, bool waits, const std::function<void()>& thread);
// The block's shared memory, with the size of its launch; filled anew with NaN for each block.
void* emulated_shared_memory();
// The number of the running block, counted since the program began.
std::uint64_t emulated_block();

// CUDA's own names.
// NOLINTBEGIN(bugprone-reserved-identifier)
inline void __syncthreads() { emulated_wait(EmulatedWait::block); }

template <typename T>
T __shfl_xor_sync(unsigned, T value, int other) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  const unsigned me = threadIdx.x;
  const unsigned turn = emulated_lanes[me].turn ^= 1U;
  std::memcpy(&emulated_lanes[me].shown[turn], &value, sizeof value);
  emulated_wait(EmulatedWait::warp);
  T theirs;
  std::memcpy(&theirs, &emulated_lanes[me ^ static_cast<unsigned>(other)].shown[turn], sizeof theirs);
  return theirs;
}
inline bool __all_sync(unsigned, bool value) {
  int all = value ? 1 : 0;
  for (int other = 1; other < 32; other *= 2) all &= __shfl_xor_sync(~0U, all, other);
  return all != 0;
}
// Each four bits of the selector choose one of the eight bytes of y x.
inline std::uint32_t __byte_perm(std::uint32_t x, std::uint32_t y, std::uint32_t selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(y) << 32 | x;
  std::uint32_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    result |= static_cast<std::uint32_t>(both >> (8 * (selector >> (4 * byte) & 7U)) & 0xffU) << (8 * byte);
  }
  return result;
}

inline void atomicAdd(double* at, double value) { *at += value; }
inline void atomicAdd(std::uint32_t* at, std::uint32_t value) { *at += value; }
inline void atomicXor(std::uint32_t* at, std::uint32_t value) { *at ^= value; }
template <typename T>
T __ldcs(const T* from) {
  return *from;
}
template <typename T>
void __stcs(T* to, T value) {
  *to = value;
}
inline void atomicAdd(__nv_bfloat162* at, __nv_bfloat162 value) {
  at->x = __float2bfloat16(__bfloat162float(at->x) + __bfloat162float(value.x));
  at->y = __float2bfloat16(__bfloat162float(at->y) + __bfloat162float(value.y));
}
inline float __expf(float x) { return std::exp(x); }
// NOLINTEND(bugprone-reserved-identifier)
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }
inline int min(int a, int b) { return a < b ? a : b; }

// The device's clock.
std::uint64_t emulated_nanoseconds();

template <typename Kernel>
struct EmulatedLaunch {
  Kernel kernel;
  EmulatedShape shape;
  bool waits;
  template <typename... Arguments>
  void operator()(Arguments... arguments) const {
    emulated_queue([=, launch = *this] {
      emulated_run(launch.shape, launch.waits, [&] { launch.kernel(arguments...); });
    });
  }
};
template <typename Kernel>
EmulatedLaunch<Kernel> emulated_launch(Kernel kernel, dim3 grid, dim3 threads, int shared_bytes, cudaStream_t,
                                       bool waits) {
  return {kernel, {grid, threads, static_cast<std::size_t>(shared_bytes)}, waits};
}
