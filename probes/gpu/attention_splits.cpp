#include "probes/gpu/attention_splits.h"

#include <algorithm>

namespace sextant::gpu {

const char* attention_complaint(const AttentionShape& shape, bool is_decode) {
  if (shape.head_dim != 64 && shape.head_dim != 128)
    return "attention is measured with head_dim 64 and 128 only";
  if (shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) return "heads must be a multiple of kv_heads";
  if (is_decode && shape.heads / shape.kv_heads > kMaxHeadsPerGroup) {
    return "more than 16 query heads share keys and values";
  }
  return nullptr;
}

int pages_of(const AttentionShape& shape) { return (shape.tokens + kTokensPerPage - 1) / kTokensPerPage; }

std::size_t partial_floats(const AttentionShape& shape, int splits) {
  const std::size_t parts = static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.heads) *
                            static_cast<std::size_t>(splits);
  return parts * static_cast<std::size_t>(shape.head_dim + 2);
}

int choose_splits(const AttentionShape& shape, int slots) {
  constexpr double kFullEnough = 0.95;
  const int maximum = std::max(1, pages_of(shape) / kMinPagesPerSplit);
  int best = 1;
  double best_share = 0;
  for (int splits = 1; splits <= maximum; ++splits) {
    const int blocks = shape.batch * shape.kv_heads * splits;
    const int rounds = (blocks + slots - 1) / slots;
    const double share = static_cast<double>(blocks) / (static_cast<double>(rounds) * slots);
    if (share > best_share) {
      best = splits;
      best_share = share;
    }
    if (share >= kFullEnough) break;
  }
  return best;
}

}  // namespace sextant::gpu
