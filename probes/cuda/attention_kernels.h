// Attention in bf16 with fp32 sums, on tensor cores. Nothing is checked here: the caller asks for the last
// error.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "probes/cuda/attention_shape.h"

namespace sextant::gpu {

inline constexpr int kTokensPerPage = 16;
inline constexpr int kMostHeadsPerGroup = 16;  // query heads that share keys and values

// Why a shape cannot be run; null when it can: head_dim is 64 or 128, heads a multiple of kv_heads, and
// (decode) at most 16 query heads share keys and values.
[[nodiscard]] const char* attention_complaint(const AttentionShape& shape, bool is_decode);

// One query token a sequence. All row-major:
//   query, output  [batch][heads][head_dim]
//   keys, values   [pages][kv_heads][kTokensPerPage][head_dim]
//   page_table     [batch][pages_per_sequence], which page holds tokens 16 i .. 16 i + 15 of a sequence
//   partials       what partial_floats() says, when there are several splits
// `splits` blocks share the tokens of a sequence.
struct DecodeAttention {
  AttentionShape shape;
  const void* query = nullptr;
  const void* keys = nullptr;
  const void* values = nullptr;
  const int* page_table = nullptr;
  float* partials = nullptr;
  void* output = nullptr;
  int splits = 1;
};
[[nodiscard]] int pages_of(const AttentionShape& shape);  // of one sequence
[[nodiscard]] std::size_t partial_floats(const AttentionShape& shape, int splits);
// So many that the last round of blocks is nearly full on a GPU that runs `slots` of them at once.
[[nodiscard]] int choose_splits(const AttentionShape& shape, int slots);
// Blocks of the current GPU at once.
[[nodiscard]] int decode_slots(const AttentionShape& shape);
void decode_attention(const DecodeAttention& attention, cudaStream_t stream);

// All tokens of each sequence against themselves and those before:
//   query, output  [batch][tokens][heads][head_dim]
//   keys, values   [batch][tokens][kv_heads][head_dim]
struct PrefillAttention {
  AttentionShape shape;
  const void* query = nullptr;
  const void* keys = nullptr;
  const void* values = nullptr;
  void* output = nullptr;
};
void prefill_attention(const PrefillAttention& attention, cudaStream_t stream);

}  // namespace sextant::gpu
