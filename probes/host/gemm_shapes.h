// The sizes of a decoder layer's matrix products.
#pragma once

#include <string>
#include <vector>

#include "sextant/model.h"

namespace sextant::inline probes {

// C[m x n] = A[m x k] B[k x n], row by row; with transpose_b, B is stored as [n x k].
struct GemmShape {
  std::string name;
  int m = 1;
  int n = 1;
  int k = 1;
  bool transpose_b = false;

  [[nodiscard]] double flop() const { return 2.0 * m * n * k; }
  [[nodiscard]] double elements() const;  // of A, B and C

  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

// A square product.
[[nodiscard]] GemmShape square_gemm(int size);

// Returns the products on one device if `tokens` tokens of one sequence pass a layer and the head:
//   qkv       tokens x (query + key + value heads of this device), attention_scores and attention_values of one
//   head, output, gate_up (both matrices at once), down, and head (of the vocabulary, or the value head's one
//   output).
// With experts, gate_up and down are for one expert with its mean share of the tokens. Sizes that tensor
// parallelism does not divide are rounded up (the largest part); key-value heads are repeated if there are more
// devices than heads. Without vocabulary and value head, no head.
[[nodiscard]] std::vector<GemmShape> gemm_shapes_of(const Model& model, int tokens, int tensor_parallel);

}  // namespace sextant::inline probes
