#include <type_traits>

#include "probes/cuda/device_helpers.cuh"
#include "probes/cuda/kernels.h"

namespace sextant::gpu {
namespace {

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

__global__ void nothing_kernel() {}

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait_kernel(const volatile std::uint32_t* flag, std::uint64_t bound_ns) {
  const std::uint64_t start_ns = nanoseconds();
  while (*flag == 0 && nanoseconds() - start_ns < bound_ns) {
  }
}

template <typename In, typename Out>
__global__ void wrong_products_kernel(const In* a, const In* b, const Out* d, Product product, int checks,
                                      double tolerance, double result_tolerance, std::uint32_t* wrong) {
  const int check = static_cast<int>(first_index());
  if (check >= checks) return;
  const std::size_t n = product.n;
  const std::size_t k = product.k;
  const std::size_t row = mix(2 * check) % static_cast<std::size_t>(product.m);
  const std::size_t column = mix(2 * check + 1) % n;
  double sum = 0;
  double magnitude = 0;
  for (std::size_t inner = 0; inner < k; ++inner) {
    const double factor = load(b[product.transpose_b ? column * k + inner : inner * n + column]);
    const double term = load(a[row * k + inner]) * factor;
    sum += term;
    magnitude += fabs(term);
  }
  const double allowed = tolerance * magnitude + result_tolerance * fabs(sum);
  // Written so that NaN counts as wrong.
  if (!(fabs(load(d[row * n + column]) - sum) <= allowed)) atomicAdd(wrong, 1U);
}

// Calls what with a null pointer of the element's type.
template <typename What>
void with_type(Element element, What what) {
  switch (element) {
    case Element::fp32:
      return what(static_cast<float*>(nullptr));
    case Element::bf16:
      return what(static_cast<__nv_bfloat16*>(nullptr));
    case Element::fp16:
      return what(static_cast<__half*>(nullptr));
    case Element::fp8:
      return what(static_cast<__nv_fp8_e4m3*>(nullptr));
  }
}

}  // namespace

std::size_t bytes_of(Element element) {
  std::size_t bytes = 0;
  with_type(element, [&](auto* typed) { bytes = sizeof *typed; });
  return bytes;
}

void fill_matrix(void* values, Element element, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  with_type(element, [&](auto* typed) {
    fill_matrix_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<decltype(typed)>(values), count, seed);
  });
}

void fill_words(uint4* words, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_words_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, seed);
}

void do_nothing(cudaStream_t stream) { nothing_kernel<<<1, 1, 0, stream>>>(); }

void wait_for_flag(const std::uint32_t* flag, double bound_s, cudaStream_t stream) {
  wait_kernel<<<1, 1, 0, stream>>>(flag, static_cast<std::uint64_t>(1e9 * bound_s));
}

void count_wrong_products(const Product& product, int checks, double tolerance, double result_tolerance,
                          std::uint32_t* wrong, cudaStream_t stream) {
  const int blocks = (checks + kThreads - 1) / kThreads;
  with_type(product.operands, [&](auto* in) {
    with_type(product.result, [&](auto* out) {
      wrong_products_kernel<<<blocks, kThreads, 0, stream>>>(
          static_cast<const std::remove_pointer_t<decltype(in)>*>(product.a),
          static_cast<const std::remove_pointer_t<decltype(in)>*>(product.b),
          static_cast<const std::remove_pointer_t<decltype(out)>*>(product.d), product, checks, tolerance,
          result_tolerance, wrong);
    });
  });
}

}  // namespace sextant::gpu
