// Keys and values of the sequences that a stage is decoding.
#pragma once

#include "probes/proxy/model/batch.h"
#include "probes/proxy/model/buffer.h"
#include "probes/proxy/model/shard.h"

namespace sextant::proxy {

class KvCache {
 public:
  // Holds `slots` sequences of at most `capacity` tokens in each of `layers` layers.
  KvCache(const LayerShape& shape, int layers, int slots, int capacity);

  // Stores the key and value heads of one token, a row of rotated qkv.
  void store(int layer, int slot, int position, const float* qkv);
  // Stores a packed batch whose sequences go to slots first_slot, first_slot + 1, ...
  void store(int layer, int first_slot, const PackedBatch& batch, ConstMatrix qkv);
  // Returns the first `context` tokens of one head: [context, head_dim].
  [[nodiscard]] ConstMatrix keys(int layer, int slot, int kv_head, int context) const;
  [[nodiscard]] ConstMatrix values(int layer, int slot, int kv_head, int context) const;

 private:
  [[nodiscard]] std::size_t start(int layer, int slot, int kv_head) const;

  LayerShape shape_;
  int slots_;
  int capacity_;
  Buffer keys_;  // [layers, slots, kv_heads, capacity, head_dim]
  Buffer values_;
};

}  // namespace sextant::proxy
