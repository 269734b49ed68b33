#include "probes/cuda/device_helpers.cuh"
#include "probes/cuda/memory_kernels.h"

namespace sextant::gpu {
namespace {

constexpr float kTriadFactor = 3.0F;
// Four times what runs at once, so that the last ones to finish matter little; each adds eight atomics.
constexpr int kReadBlocks = 8192;

__device__ unsigned fold(uint4 word) { return word.x ^ word.y ^ word.z ^ word.w; }

__device__ uint4 load_word(const uint4* at, bool is_read_once) { return is_read_once ? __ldcs(at) : *at; }

// A block moves kInFlight * kThreads words that lie together; each thread has all its loads in flight before
// it stores.
template <int kInFlight, bool kOnce>
__global__ void copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t count) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kInFlight * kThreads + threadIdx.x;
  uint4 words[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i) * kThreads;
    if (at < count) words[i] = load_word(from + at, kOnce);
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i) * kThreads;
    if (at >= count) continue;
    if (kOnce) {
      __stcs(to + at, words[i]);
    } else {
      to[at] = words[i];
    }
  }
}

template <int kInFlight, bool kOnce>
__global__ void xor_kernel(const uint4* __restrict__ words, std::size_t count, std::uint32_t* result) {
  unsigned folded = 0;
  const std::size_t step = stride();
  std::size_t at = first_index();
  for (; at + (kInFlight - 1) * step < count; at += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) loaded[i] = load_word(words + at + i * step, kOnce);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) folded ^= fold(loaded[i]);
  }
  for (; at < count; at += step) folded ^= fold(words[at]);
  for (int lane = 16; lane > 0; lane /= 2) folded ^= __shfl_xor_sync(0xffffffffU, folded, lane);
  if (threadIdx.x % 32 == 0) atomicXor(result, folded);
}

__global__ void xor_pieces_kernel(const uint4* words, std::size_t count, std::uint32_t* result) {
  const std::size_t piece = (count + stride() - 1) / stride();
  const std::size_t first = first_index() * piece;
  unsigned folded = 0;
  for (std::size_t at = first; at < first + piece && at < count; ++at) {
    folded ^= words[at].x;
    folded ^= words[at].y;
    folded ^= words[at].z;
    folded ^= words[at].w;
  }
  atomicXor(result, folded);
}

// One multiplication a word: making it must not take longer than writing it.
__device__ uint4 word_of(std::size_t at, std::uint32_t seed) {
  const std::uint32_t x = (static_cast<std::uint32_t>(at) ^ seed) * 0x9e3779b1U;
  return make_uint4(x, x ^ 0x85ebca6bU, x + 0xc2b2ae35U, ~x ^ 0x27d4eb2fU);
}

__global__ void write_kernel(uint4* words, std::size_t count, std::uint32_t seed) {
  for (std::size_t at = first_index(); at < count; at += stride()) words[at] = word_of(at, seed);
}

__device__ bool is_equal(uint4 x, uint4 y) { return x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w; }

__global__ void wrong_words_kernel(const uint4* words, std::size_t count, std::uint32_t seed,
                                   std::uint32_t* wrong) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    if (!is_equal(words[at], word_of(at, seed))) atomicAdd(wrong, 1U);
  }
}

__global__ void differences_kernel(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    if (!is_equal(a[at], b[at])) atomicAdd(result, 1U);
  }
}

__device__ float4 triad_of(float4 b, float4 c) {
  return make_float4(b.x + kTriadFactor * c.x, b.y + kTriadFactor * c.y, b.z + kTriadFactor * c.z,
                     b.w + kTriadFactor * c.w);
}

__global__ void triad_kernel(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c,
                             std::size_t count) {
  constexpr int kInFlight = 4;  // of each operand
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kInFlight * kThreads + threadIdx.x;
  float4 left[kInFlight];
  float4 right[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i) * kThreads;
    if (at >= count) continue;
    left[i] = b[at];
    right[i] = c[at];
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const std::size_t at = first + static_cast<std::size_t>(i) * kThreads;
    if (at < count) a[at] = triad_of(left[i], right[i]);
  }
}

__device__ bool is_triad(float a, float b, float c) {
  const double want = static_cast<double>(b) + static_cast<double>(kTriadFactor) * static_cast<double>(c);
  // Written so that NaN is wrong; one rounding of the product and one of the sum.
  return fabs(static_cast<double>(a) - want) <= 0x1p-23 * (fabs(want) + 3 * fabs(static_cast<double>(c)));
}

__global__ void wrong_triads_kernel(const float4* a, const float4* b, const float4* c, std::size_t count,
                                    std::uint32_t* wrong) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    const bool is_right = is_triad(a[at].x, b[at].x, c[at].x) && is_triad(a[at].y, b[at].y, c[at].y) &&
                          is_triad(a[at].z, b[at].z, c[at].z) && is_triad(a[at].w, b[at].w, c[at].w);
    if (!is_right) atomicAdd(wrong, 1U);
  }
}

unsigned blocks_for(std::size_t count, int words_per_thread) {
  const std::size_t per_block = static_cast<std::size_t>(words_per_thread) * kThreads;
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace

void copy_words(const uint4* from, uint4* to, std::size_t count, bool is_deep, cudaStream_t stream) {
  if (is_deep) {
    copy_kernel<8, true><<<blocks_for(count, 8), kThreads, 0, stream>>>(from, to, count);
  } else {
    copy_kernel<4, false><<<blocks_for(count, 4), kThreads, 0, stream>>>(from, to, count);
  }
}

void xor_words(const uint4* words, std::size_t count, bool is_deep, std::uint32_t* result,
               cudaStream_t stream) {
  if (is_deep) {
    xor_kernel<8, true><<<kReadBlocks, kThreads, 0, stream>>>(words, count, result);
  } else {
    xor_kernel<4, false><<<kReadBlocks, kThreads, 0, stream>>>(words, count, result);
  }
}

void xor_words_piecewise(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream) {
  xor_pieces_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, result);
}

void write_words(uint4* words, std::size_t count, std::uint32_t seed, cudaStream_t stream) {
  write_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed);
}

void count_wrong_words(const uint4* words, std::size_t count, std::uint32_t seed, std::uint32_t* wrong,
                       cudaStream_t stream) {
  wrong_words_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed, wrong);
}

void triad(float4* a, const float4* b, const float4* c, std::size_t count, cudaStream_t stream) {
  triad_kernel<<<blocks_for(count, 4), kThreads, 0, stream>>>(a, b, c, count);
}

void count_wrong_triads(const float4* a, const float4* b, const float4* c, std::size_t count,
                        std::uint32_t* wrong, cudaStream_t stream) {
  wrong_triads_kernel<<<kBlocks, kThreads, 0, stream>>>(a, b, c, count, wrong);
}

void count_differences(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result,
                       cudaStream_t stream) {
  differences_kernel<<<kBlocks, kThreads, 0, stream>>>(a, b, count, result);
}

}  // namespace sextant::gpu
