#include "probes/proxy/model/kv_cache.h"

#include <algorithm>

namespace sextant::proxy {

KvCache::KvCache(const LayerShape& shape, int layers, int slots, int capacity)
    : shape_(shape),
      slots_(slots),
      capacity_(capacity),
      keys_(start(layers, 0, 0)),
      values_(start(layers, 0, 0)) {}

std::size_t KvCache::start(int layer, int slot, int kv_head) const {
  const std::size_t head = (static_cast<std::size_t>(layer) * slots_ + slot) * shape_.kv_heads + kv_head;
  return head * static_cast<std::size_t>(capacity_) * shape_.head_dim;
}

void KvCache::store(int layer, int slot, int position, const float* qkv) {
  const std::ptrdiff_t dim = shape_.head_dim;
  const float* key = qkv + shape_.attention_width();
  const float* value = key + shape_.kv_width();
  for (int head = 0; head < shape_.kv_heads; ++head) {
    const std::size_t place = start(layer, slot, head) + static_cast<std::size_t>(position * dim);
    std::copy_n(key + head * dim, dim, &keys_[place]);
    std::copy_n(value + head * dim, dim, &values_[place]);
  }
}

void KvCache::store(int layer, int first_slot, const PackedBatch& batch, ConstMatrix qkv) {
  for (int s = 0; s < batch.sequences(); ++s) {
    for (int position = 0; position < batch.length(s); ++position) {
      store(layer, first_slot + s, position, qkv.row(batch.offset(s) + position));
    }
  }
}

ConstMatrix KvCache::keys(int layer, int slot, int kv_head, int context) const {
  return {&keys_[start(layer, slot, kv_head)], context, shape_.head_dim, shape_.head_dim};
}

ConstMatrix KvCache::values(int layer, int slot, int kv_head, int context) const {
  return {&values_[start(layer, slot, kv_head)], context, shape_.head_dim, shape_.head_dim};
}

}  // namespace sextant::proxy
