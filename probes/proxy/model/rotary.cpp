#include "probes/proxy/model/rotary.h"

#include <cmath>
#include <cstddef>

#include "probes/proxy/model/kernels.h"

namespace sextant::proxy {

Rotary::Rotary(int head_dim, int positions) : half_(head_dim / 2) {
  constexpr double kBase = 10000.0;
  for (int position = 0; position < positions; ++position) {
    for (int i = 0; i < half_; ++i) {
      const double angle = position * std::pow(kBase, -static_cast<double>(i) / half_);
      cosine_.push_back(static_cast<float>(std::cos(angle)));
      sine_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

void Rotary::apply(float* qkv, const LayerShape& shape, int position, float direction) const {
  const std::size_t row = static_cast<std::size_t>(position) * half_;
  // Key heads follow the query heads.
  for (int head = 0; head < shape.heads + shape.kv_heads; ++head) {
    rotate(qkv + std::ptrdiff_t{head} * shape.head_dim, shape.head_dim, &cosine_[row], &sine_[row], direction);
  }
}

void Rotary::apply(Matrix qkv, const LayerShape& shape, const PackedBatch& batch, float direction) const {
  for (int s = 0; s < batch.sequences(); ++s) {
    for (int position = 0; position < batch.length(s); ++position) {
      apply(qkv.row(batch.offset(s) + position), shape, position, direction);
    }
  }
}

}  // namespace sextant::proxy
