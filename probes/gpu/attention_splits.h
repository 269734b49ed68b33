// What attention kernels can run, and how the tokens of a sequence are shared out: pure. Plain C++17, because
// nvcc compiles what includes it.
#pragma once

#include <cstddef>

#include "probes/gpu/attention_shape.h"

namespace sextant::gpu {

inline constexpr int kTokensPerPage = 16;
inline constexpr int kMaxHeadsPerGroup = 16;  // query heads that share keys and values
inline constexpr int kMinPagesPerSplit = 16;  // four for each warp of a block

// Why a shape cannot be run; null when it can: head_dim is 64 or 128, heads a multiple of kv_heads, and
// (decode) at most 16 query heads share keys and values.
[[nodiscard]] const char* attention_complaint(const AttentionShape& shape, bool is_decode);

[[nodiscard]] int pages_of(const AttentionShape& shape);  // of one sequence
[[nodiscard]] std::size_t partial_floats(const AttentionShape& shape, int splits);
// So many that the last round of blocks is nearly full on a GPU that runs `slots` of them at once.
[[nodiscard]] int choose_splits(const AttentionShape& shape, int slots);

}  // namespace sextant::gpu
