// Sequences of different lengths side by side, without padding.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::proxy {

struct PackedBatch {
  std::vector<int> tokens;
  std::vector<int> offsets{0};  // offset of each sequence, and the end

  void clear();
  void append(std::span<const int> sequence);
  [[nodiscard]] int sequences() const { return static_cast<int>(offsets.size()) - 1; }
  [[nodiscard]] int token_count() const { return offsets.back(); }
  [[nodiscard]] int offset(int sequence) const { return offsets[static_cast<std::size_t>(sequence)]; }
  [[nodiscard]] int length(int sequence) const { return offset(sequence + 1) - offset(sequence); }
};

// The largest sizes among the batches of a stage; determines the buffers.
struct BatchLimits {
  int tokens = 0;
  int longest = 0;                  // longest sequence
  std::size_t squared_lengths = 0;  // sum over the sequences of one batch

  // Takes a batch of sequences with these lengths into account.
  void include(std::span<const int> lengths);
};

}  // namespace sextant::proxy
