#include "probes/proxy/model/batch.h"

#include <algorithm>

namespace sextant::proxy {

void PackedBatch::clear() {
  tokens.clear();
  offsets.assign(1, 0);
}

void PackedBatch::append(std::span<const int> sequence) {
  tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  offsets.push_back(static_cast<int>(tokens.size()));
}

void BatchLimits::include(std::span<const int> lengths) {
  int sum = 0;
  std::size_t squares = 0;
  for (const int length : lengths) {
    sum += length;
    squares += static_cast<std::size_t>(length) * static_cast<std::size_t>(length);
    longest = std::max(longest, length);
  }
  tokens = std::max(tokens, sum);
  squared_lengths = std::max(squared_lengths, squares);
}

}  // namespace sextant::proxy
