// Kernels that libraries do not offer. Plain C++17, because nvcc compiles this file too. The functions check no
// errors: the caller queries the last one.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace sextant::gpu {

// The storage format of a matrix's elements on the device.
enum class Element { fp32, bf16, fp16, fp8 };

[[nodiscard]] std::size_t bytes_of(Element element);

// Uniform in [-1, 1), the same for the same seed.
void fill_matrix(void* values, Element element, std::size_t count, std::uint64_t seed, cudaStream_t stream);
void fill_words(uint4* words, std::size_t count, std::uint64_t seed, cudaStream_t stream);

void do_nothing(cudaStream_t stream);
// One thread waits until *flag is not 0, at most bound_s seconds.
void wait_for_flag(const std::uint32_t* flag, double bound_s, cudaStream_t stream);

// Row-major: D [m x n] = A [m x k] B [k x n], or B stored as [n x k].
struct Product {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* d = nullptr;
  Element operands = Element::fp32;
  Element result = Element::fp32;
  int m = 1;
  int n = 1;
  int k = 1;
  bool transpose_b = false;
};

// Recomputes `checks` elements of D in double; adds to *wrong the number of those that differ by more than
// tolerance * sum |a b| + result_tolerance * |sum a b|.
void count_wrong_products(const Product& product, int checks, double tolerance, double result_tolerance,
                          std::uint32_t* wrong, cudaStream_t stream);

}  // namespace sextant::gpu
