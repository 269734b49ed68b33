// The instructions of probes/cuda/attention_instructions.cuh on a CPU; included in its place.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "tests/probes/cuda/emulation/emulated_device.h"

namespace sextant::gpu {

struct Fragment4 {
  std::uint32_t x[4];
};

namespace emulated {

inline constexpr unsigned kLanes = 32;
inline constexpr std::size_t kThreads = 1024;

// The operands that the lanes of a warp give to a product, in alternating slots.
struct Given {
  std::uint32_t a[4], b[2];
};
inline std::array<std::array<Given, kThreads>, 2> given;

// Returns element k % 2 of a word of two.
inline float half_of(std::uint32_t word, int k) {
  return __bfloat162float({static_cast<std::uint16_t>(k % 2 == 0 ? word : word >> 16)});
}

struct Copy {
  uint4* to;
  uint4 value;
};
// Copies of a thread for which it has not waited: groups, the last one open.
struct Copies {
  std::uint64_t block = 0;
  std::deque<std::vector<Copy>> groups;
};
inline std::array<Copies, kThreads> copies;
inline std::deque<std::vector<Copy>>& my_groups() {
  Copies& mine = copies[threadIdx.x];
  if (mine.block != emulated_block()) mine = {emulated_block(), {{}}};  // drops copies of an earlier block
  return mine.groups;
}

}  // namespace emulated

// Fragments as in PTX's description of mma.m16n8k16: lane 4 g + t has rows g and g + 8 of a and c, column g of
// b.
inline void multiply_add(float (&c)[4], const Fragment4& a, std::uint32_t b0, std::uint32_t b1) {
  const unsigned me = threadIdx.x;
  const unsigned warp = me / emulated::kLanes * emulated::kLanes;
  auto& given = emulated::given[emulated_lanes[me].turn ^= 1U];
  given[me] = {{a.x[0], a.x[1], a.x[2], a.x[3]}, {b0, b1}};
  emulated_wait(EmulatedWait::warp);
  const unsigned lane = me % emulated::kLanes;
  for (int e = 0; e < 4; ++e) {
    const unsigned row = lane / 4 + (e < 2 ? 0U : 8U);
    const unsigned column = 2 * (lane % 4) + static_cast<unsigned>(e) % 2;
    for (int k = 0; k < 16; ++k) {
      const unsigned t = static_cast<unsigned>(k) % 8 / 2;
      const unsigned upper = k < 8 ? 0 : 1;
      const std::uint32_t left = given[warp + 4 * (row % 8) + t].a[row / 8 + 2 * upper];
      const std::uint32_t right = given[warp + 4 * column + t].b[upper];
      c[e] += emulated::half_of(left, k) * emulated::half_of(right, k);
    }
  }
}

inline float exp2_fast(float value) { return std::exp2(value); }

// A copy may complete at any time before the wait: until then the destination holds NaN.
inline void copy_async(uint4* to, const uint4* from) {
  emulated::my_groups().back().push_back({to, *from});
  *to = {~0U, ~0U, ~0U, ~0U};
}
inline void commit_copies() { emulated::my_groups().emplace_back(); }
template <int kLeft>
void wait_for_all_copies_but() {
  auto& mine = emulated::my_groups();
  while (mine.size() > kLeft + 1U) {
    for (const emulated::Copy& copy : mine.front()) *copy.to = copy.value;
    mine.pop_front();
  }
}

}  // namespace sextant::gpu
