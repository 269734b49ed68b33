#include "probes/gpu/proxy/attention_layout.h"

#include <algorithm>
#include <numeric>

#include "probes/proxy/model/batch.h"

namespace sextant::gpu {

AttentionLayout attention_layout(const proxy::PackedBatch& batch) {
  std::vector<int> order(static_cast<std::size_t>(batch.sequences()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return padded_length(batch.length(a)) < padded_length(batch.length(b));
  });
  AttentionLayout layout;
  for (const int sequence : order) {
    const int length = padded_length(batch.length(sequence));
    if (layout.runs.empty() || layout.runs.back().length != length) {
      layout.runs.push_back({0, length, layout.rows(), layout.squares});
    }
    ++layout.runs.back().sequences;
    const int base = static_cast<int>(layout.rows());
    for (int position = 0; position < length; ++position) {
      const int source = position < batch.length(sequence) ? batch.offset(sequence) + position : -1;
      layout.places.push_back({source, base, length, position, sequence});
    }
    layout.squares += static_cast<std::size_t>(length) * static_cast<std::size_t>(length);
  }
  return layout;
}

void AttentionLimits::include(const std::vector<int>& lengths) {
  int sum = 0;
  std::size_t all_rows = 0;
  std::size_t all_squares = 0;
  for (const int length : lengths) {
    const auto padded = static_cast<std::size_t>(padded_length(length));
    sum += length;
    all_rows += padded;
    all_squares += padded * padded;
    longest = std::max(longest, static_cast<int>(padded));
  }
  tokens = std::max(tokens, sum);
  sequences = std::max(sequences, static_cast<int>(lengths.size()));
  rows = std::max(rows, all_rows);
  squares = std::max(squares, all_squares);
}

}  // namespace sextant::gpu
