// Rotary position embedding (RoFormer, arXiv 2104.09864) with base 10000 and halves rotated together.
#pragma once

#include "probes/proxy/model/batch.h"
#include "probes/proxy/model/buffer.h"
#include "probes/proxy/model/shard.h"

namespace sextant::proxy {

class Rotary {
 public:
  Rotary(int head_dim, int positions);
  // Rotates the query and key heads of one token at `position`; direction -1 undoes it.
  void apply(float* qkv, const LayerShape& shape, int position, float direction = 1) const;
  // Rotates all tokens of a batch; rows of qkv are tokens.
  void apply(Matrix qkv, const LayerShape& shape, const PackedBatch& batch, float direction = 1) const;

 private:
  int half_;
  Buffer cosine_;  // [positions, half]
  Buffer sine_;
};

}  // namespace sextant::proxy
