// Shapes that the attention kernels support, and the split of a sequence's tokens: pure. Plain C++17, because
// nvcc compiles the files that include it.
#pragma once

#include <cstddef>

#include "probes/gpu/attention_shape.h"

namespace sextant::gpu {

inline constexpr int kTokensPerPage = 16;
inline constexpr int kMaxHeadsPerGroup = 16;  // query heads that share keys and values
inline constexpr int kMinPagesPerSplit = 16;  // four for each warp of a block

// Returns why a shape is not supported; null if it is: head_dim is 64 or 128, heads a multiple of kv_heads, and
// (decode) at most 16 query heads share keys and values.
[[nodiscard]] const char* attention_complaint(const AttentionShape& shape, bool is_decode);

[[nodiscard]] int pages_of(const AttentionShape& shape);  // for one sequence
[[nodiscard]] std::size_t partial_floats(const AttentionShape& shape, int splits);
// Returns the number of splits whose last round of blocks nearly fills a GPU that runs `slots` at once.
[[nodiscard]] int choose_splits(const AttentionShape& shape, int slots);

}  // namespace sextant::gpu
