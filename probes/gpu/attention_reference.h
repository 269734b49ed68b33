// Attention of one query row in double, as a reference.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant::inline probes {

// Stored bf16 values.
using Bf16Row = std::vector<std::uint16_t>;

[[nodiscard]] double from_bf16(std::uint16_t bits);

// Returns softmax(query keys^T / sqrt(head_dim)) values over the first `tokens` tokens, with query [head_dim],
// keys and values [tokens][head_dim].
[[nodiscard]] std::vector<double> attention_row(const Bf16Row& query, const Bf16Row& keys,
                                                const Bf16Row& values, int tokens);

// Whether `got` equals `want` except for rounding weights and result to bf16: each element within 2^-8 of its
// own size and 3 % of the row's root mean square. False for NaN.
[[nodiscard]] bool is_attention_right(const Bf16Row& got, const std::vector<double>& want);

}  // namespace sextant::inline probes
