#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "probes/cuda/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;  // grid-stride loops: enough for every GPU to be full

// SplitMix64 (Steele, Lea, Flood, 2014) of the position.
__device__ std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

__device__ std::size_t first_index() { return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; }
__device__ std::size_t stride() { return gridDim.x * static_cast<std::size_t>(blockDim.x); }

__device__ void store(float* at, float value) { *at = value; }
__device__ void store(__nv_bfloat16* at, float value) { *at = __float2bfloat16(value); }
__device__ void store(__half* at, float value) { *at = __float2half(value); }
__device__ double load(float value) { return value; }
__device__ double load(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ double load(__half value) { return __half2float(value); }

template <typename T>
__global__ void fill_matrix_kernel(T* values, std::size_t count, std::uint64_t seed) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    store(values + at, static_cast<float>(mix(at ^ seed << 40) >> 40) * 0x1p-23F - 1.0F);
  }
}

__global__ void fill_words_kernel(uint4* words, std::size_t count, std::uint64_t seed) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    const std::uint64_t low = mix(2 * at ^ seed << 40);
    const std::uint64_t high = mix((2 * at + 1) ^ seed << 40);
    words[at] = make_uint4(static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
                           static_cast<unsigned>(high), static_cast<unsigned>(high >> 32));
  }
}

__device__ unsigned fold(uint4 word) { return word.x ^ word.y ^ word.z ^ word.w; }

// Four loads in flight a thread, or the memory would wait for the threads.
__global__ void xor_kernel(const uint4* words, std::size_t count, std::uint32_t* result) {
  unsigned folded = 0;
  const std::size_t step = stride();
  std::size_t at = first_index();
  for (; at + 3 * step < count; at += 4 * step) {
    const uint4 a = words[at];
    const uint4 b = words[at + step];
    const uint4 c = words[at + 2 * step];
    const uint4 d = words[at + 3 * step];
    folded ^= fold(a) ^ fold(b) ^ fold(c) ^ fold(d);
  }
  for (; at < count; at += step) folded ^= fold(words[at]);
  for (int lane = 16; lane > 0; lane /= 2) folded ^= __shfl_xor_sync(0xffffffffU, folded, lane);
  if (threadIdx.x % 32 == 0) atomicXor(result, folded);
}

__global__ void xor_slowly_kernel(const uint4* words, std::size_t count, std::uint32_t* result) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    atomicXor(result, words[at].x);
    atomicXor(result, words[at].y);
    atomicXor(result, words[at].z);
    atomicXor(result, words[at].w);
  }
}

__global__ void differences_kernel(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result) {
  for (std::size_t at = first_index(); at < count; at += stride()) {
    const uint4 x = a[at];
    const uint4 y = b[at];
    if (x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w) atomicAdd(result, 1U);
  }
}

template <typename T>
__global__ void wrong_products_kernel(const T* a, const T* b, const float* c, int size, int checks,
                                      double tolerance, std::uint32_t* result) {
  const int check = static_cast<int>(first_index());
  if (check >= checks) return;
  const std::size_t n = size;
  const std::size_t row = mix(2 * check) % n;
  const std::size_t column = mix(2 * check + 1) % n;
  double sum = 0;
  double magnitude = 0;
  for (std::size_t inner = 0; inner < n; ++inner) {
    const double product = load(a[row + inner * n]) * load(b[inner + column * n]);
    sum += product;
    magnitude += fabs(product);
  }
  // Written so that NaN counts as wrong.
  if (!(fabs(c[row + column * n] - sum) <= tolerance * magnitude)) atomicAdd(result, 1U);
}

}  // namespace

void fill_matrix(void* values, Element element, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  switch (element) {
    case Element::fp32:
      fill_matrix_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<float*>(values), count, seed);
      return;
    case Element::bf16:
      fill_matrix_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<__nv_bfloat16*>(values), count, seed);
      return;
    case Element::fp16:
      fill_matrix_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<__half*>(values), count, seed);
      return;
  }
}

void fill_words(uint4* words, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_words_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed);
}

void xor_words(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream) {
  xor_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, result);
}

void xor_words_slowly(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream) {
  xor_slowly_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, result);
}

void count_differences(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result,
                       cudaStream_t stream) {
  differences_kernel<<<kBlocks, kThreads, 0, stream>>>(a, b, count, result);
}

void count_wrong_products(const void* a, const void* b, const float* c, Element element, int size, int checks,
                          double tolerance, std::uint32_t* result, cudaStream_t stream) {
  const int blocks = (checks + kThreads - 1) / kThreads;
  const auto launch = [&](auto* typed_a, auto* typed_b) {
    wrong_products_kernel<<<blocks, kThreads, 0, stream>>>(typed_a, typed_b, c, size, checks, tolerance,
                                                           result);
  };
  switch (element) {
    case Element::fp32:
      launch(static_cast<const float*>(a), static_cast<const float*>(b));
      return;
    case Element::bf16:
      launch(static_cast<const __nv_bfloat16*>(a), static_cast<const __nv_bfloat16*>(b));
      return;
    case Element::fp16:
      launch(static_cast<const __half*>(a), static_cast<const __half*>(b));
      return;
  }
}

}  // namespace sextant::gpu
