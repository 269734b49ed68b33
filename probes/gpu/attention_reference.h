// Attention of one query row in double, to compare with.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

// bf16 as stored.
using Bf16Row = std::vector<std::uint16_t>;

[[nodiscard]] double from_bf16(std::uint16_t bits);

// query [head_dim], keys and values [tokens][head_dim]: softmax(query keys^T / sqrt(head_dim)) values, of the
// first `tokens` tokens.
[[nodiscard]] std::vector<double> attention_row(const Bf16Row& query, const Bf16Row& keys,
                                                const Bf16Row& values, int tokens);

// Whether `got` is `want` but for rounding weights and result to bf16: each element within 2^-8 of its own size
// and 3 % of the row's root mean square. NaN is not.
[[nodiscard]] bool is_attention_right(const Bf16Row& got, const std::vector<double>& want);

}  // namespace sextant
