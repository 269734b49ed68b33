// The places of a packed batch's tokens in the tensors of attention.
//
// Attention sees each head of a sequence as a matrix without gaps: query [heads, L, head_dim], key and value
// [kv_heads, L, head_dim], probabilities [heads, L, L], one sequence after another, with L the length rounded
// up to kLengthMultiple (padding rows are zero). Sequences are ordered by L, so that all of one length are one
// batched product: a run. Plain C++: tested without a GPU, compiled by nvcc too.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant::proxy {
struct PackedBatch;
}

namespace sextant::gpu {

inline constexpr int kLengthMultiple = 8;  // elements: 16 bytes of bf16, for products and vector loads

// One row of the padded sequences.
struct TokenPlace {
  int source = -1;   // row of the packed batch; -1: padding
  int base = 0;      // rows of all sequences before this one, padded
  int length = 0;    // of its sequence, padded
  int position = 0;  // in its sequence
  int sequence = 0;  // in the packed batch
};

// Sequences of equal padded length, next to each other.
struct LengthRun {
  int sequences = 0;
  int length = 0;                  // padded
  std::size_t base = 0;            // rows before
  std::size_t squares_before = 0;  // sum of length^2 over the sequences before
};

struct AttentionLayout {
  std::vector<TokenPlace> places;
  std::vector<LengthRun> runs;
  std::size_t squares = 0;  // sum of length^2

  [[nodiscard]] std::size_t rows() const { return places.size(); }
};

[[nodiscard]] inline int padded_length(int length) {
  return (length + kLengthMultiple - 1) / kLengthMultiple * kLengthMultiple;
}

[[nodiscard]] AttentionLayout attention_layout(const proxy::PackedBatch& batch);

// The largest sizes over the batches of a task, with padding; determines its buffers.
struct AttentionLimits {
  int tokens = 0;
  int sequences = 0;
  std::size_t rows = 0;
  std::size_t squares = 0;
  int longest = 0;  // padded

  void include(const std::vector<int>& lengths);
};

}  // namespace sextant::gpu
