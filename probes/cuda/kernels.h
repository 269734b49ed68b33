// Kernels that libraries do not offer. Plain C++17, because nvcc compiles this file too. Nothing is checked
// here: the caller asks for the last error.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace sextant::gpu {

// How a matrix's elements are stored on the device.
enum class Element { fp32, bf16, fp16 };

// Uniform in [-1, 1), the same for the same seed.
void fill_matrix(void* values, Element element, std::size_t count, std::uint64_t seed, cudaStream_t stream);
void fill_words(uint4* words, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// Exclusive-or of all words into *result (which must be zero before): exact in any order.
void xor_words(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream);
// The same by one thread a word and atomics: slow and independent of the timed kernel.
void xor_words_slowly(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream);
// Adds the number of words that differ to *result.
void count_differences(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result,
                       cudaStream_t stream);

// c[i] against a sum in double, for `checks` elements of C = A B (column by column, size x size); adds the
// number that are off by more than tolerance * sum |a b| to *result.
void count_wrong_products(const void* a, const void* b, const float* c, Element element, int size, int checks,
                          double tolerance, std::uint32_t* result, cudaStream_t stream);

}  // namespace sextant::gpu
