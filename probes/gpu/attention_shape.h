// Sizes of an attention operation on one device. Plain C++17, because nvcc compiles this file too.
#pragma once

#include <string>

namespace sextant::inline probes {

struct AttentionShape {
  int batch = 1;   // sequences
  int tokens = 1;  // per sequence: in the cache (decode), or at once (prefill)
  int heads = 1;   // query heads; a multiple of kv_heads
  int kv_heads = 1;
  int head_dim = 128;

  // Keys and values in bf16.
  [[nodiscard]] double kv_bytes() const { return 4.0 * batch * tokens * kv_heads * head_dim; }
  // Causal: each token attends to itself and those before it, counted as half the square.
  [[nodiscard]] double causal_flop() const { return 2.0 * batch * heads * head_dim * tokens * tokens; }
  // "64x4096": batch and tokens.
  [[nodiscard]] std::string name() const { return std::to_string(batch) + "x" + std::to_string(tokens); }
};

}  // namespace sextant::inline probes
