// Kernels that move memory, 16 bytes per access. They check no errors: the caller queries the last one.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace sextant::gpu {

// Copies `count` words. Deep: eight loads in flight per thread instead of four, with a streaming hint.
void copy_words(const uint4* from, uint4* to, std::size_t count, bool is_deep, cudaStream_t stream);

// Exclusive-or of all words into *result: exact in any order. *result must be zero before.
void xor_words(const uint4* words, std::size_t count, bool is_deep, std::uint32_t* result, cudaStream_t stream);
// Like xor_words, each thread on one contiguous piece: independent of the timed kernel.
void xor_words_piecewise(const uint4* words, std::size_t count, std::uint32_t* result, cudaStream_t stream);

// Writes words that depend on their position and `seed`.
void write_words(uint4* words, std::size_t count, std::uint32_t seed, cudaStream_t stream);
// Adds to *wrong the number of words that differ from those of write_words.
void count_wrong_words(const uint4* words, std::size_t count, std::uint32_t seed, std::uint32_t* wrong,
                       cudaStream_t stream);

// a = b + 3 c, `count` times four floats; the second function counts those off by more than one rounding.
void triad(float4* a, const float4* b, const float4* c, std::size_t count, cudaStream_t stream);
void count_wrong_triads(const float4* a, const float4* b, const float4* c, std::size_t count,
                        std::uint32_t* wrong, cudaStream_t stream);

// Adds the number of words that differ to *result.
void count_differences(const uint4* a, const uint4* b, std::size_t count, std::uint32_t* result,
                       cudaStream_t stream);

}  // namespace sextant::gpu
