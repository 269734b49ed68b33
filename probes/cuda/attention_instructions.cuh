// Instructions for attention that C++ does not offer, one function each. Tests replace them by equivalent
// functions on a CPU (tests/probes/cuda/emulation/include), so no other code may be here.
#pragma once

#include <cstdint>

namespace sextant::gpu {

struct Fragment4 {
  std::uint32_t x[4];
};

// c += a b for a whole warp: a [16 x 16], b [16 x 8] in bf16, c [16 x 8]. Each lane has a part of each, as PTX
// defines for mma.m16n8k16.
__device__ inline void multiply_add(float (&c)[4], const Fragment4& a, std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
}

__device__ inline float exp2_fast(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

// Copies 16 bytes into shared memory; complete when the thread has waited for their commit group.
__device__ inline void copy_async(uint4* to, const uint4* from) {
  const auto place = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until all groups except the last kLeft are complete.
template <int kLeft>
__device__ inline void wait_for_all_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

}  // namespace sextant::gpu
