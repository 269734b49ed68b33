// Attention in bf16 with fp32 sums, on tensor cores. The functions check no errors: the caller queries the last
// one.
#pragma once

#include <cuda_runtime_api.h>

#include "probes/gpu/attention_shape.h"
#include "probes/gpu/attention_splits.h"

namespace sextant::gpu {

// One query token per sequence. All arrays are row-major:
//   query, output  [batch][heads][head_dim]
//   keys, values   [pages][kv_heads][kTokensPerPage][head_dim]
//   page_table     [batch][pages_per_sequence], which page holds tokens 16 i .. 16 i + 15 of a sequence
//   partials       partial_floats() elements, if there are several splits
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
// Number of blocks that the current GPU runs at once.
[[nodiscard]] int decode_slots(const AttentionShape& shape);
void decode_attention(const DecodeAttention& attention, cudaStream_t stream);

// All tokens of each sequence attend to themselves and those before:
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
