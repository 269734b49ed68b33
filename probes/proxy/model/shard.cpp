#include "probes/proxy/model/shard.h"

#include <algorithm>
#include <cmath>

#include "sextant/error.h"

namespace sextant::proxy {
namespace {

float inverse_root(int fan_in) { return 1.0F / std::sqrt(static_cast<float>(fan_in)); }

// `unit` rows for each of `count` heads or channels from `first` on, in a matrix that starts at `base`.
RowRange range(int base, int first, int count, int unit, float scale) {
  return {static_cast<std::size_t>(base + first * unit), static_cast<std::size_t>(count * unit), scale};
}

BlockShard layer_block(const Model& model, TensorShard shard) {
  const LayerShape local = layer_shape(model, shard);
  const int dim = model.head_dim;
  const int query = model.heads * dim;
  const int kv = model.kv_heads * dim;
  const int first_head = shard.rank * local.heads;
  const int first_kv = first_kv_head(model, shard);
  const int first_channel = shard.rank * local.intermediate;
  const float input = inverse_root(model.hidden);
  // Residual branches start small, so that deep models stay well conditioned (as in GPT-2).
  const float residual = inverse_root(2 * model.layers);
  const int output = query + 2 * kv;
  const int gate = output + query;

  BlockShard block;
  block.full_rows =
      static_cast<std::size_t>(gate) + std::size_t{3} * static_cast<std::size_t>(model.intermediate);
  block.ranges = {
      range(0, first_head, local.heads, dim, input),
      range(query, first_kv, local.kv_heads, dim, input),
      range(query + kv, first_kv, local.kv_heads, dim, input),
      range(output, first_head, local.heads, dim, residual * inverse_root(query)),
      range(gate, first_channel, local.intermediate, 1, input),
      range(gate + model.intermediate, first_channel, local.intermediate, 1, input),
      range(gate + 2 * model.intermediate, first_channel, local.intermediate, 1,
            residual * inverse_root(model.intermediate)),
  };
  return block;
}

BlockShard vocabulary_block(const Model& model, TensorShard shard, float scale) {
  const int rows = model.vocabulary / shard.size;
  return {static_cast<std::size_t>(model.vocabulary), {range(0, shard.rank * rows, rows, 1, scale)}};
}

}  // namespace

LayerShape layer_shape(const Model& model, TensorShard shard) {
  return {model.hidden, model.heads / shard.size, std::max(1, model.kv_heads / shard.size), model.head_dim,
          model.intermediate / shard.size};
}

int first_kv_head(const Model& model, TensorShard shard) { return shard.rank * model.kv_heads / shard.size; }

std::size_t BlockShard::rows() const {
  std::size_t sum = 0;
  for (const RowRange& part : ranges) sum += part.count;
  return sum;
}

int block_count(const Model& model) { return model.layers + 2; }

BlockShard block_shard(const Model& model, int block, TensorShard shard) {
  SEXTANT_CHECK(block >= 0 && block < block_count(model));
  if (block == 0) return vocabulary_block(model, shard, 1.0F);
  if (block <= model.layers) return layer_block(model, shard);
  // The value head is one row, which every rank of the last stage holds.
  if (model.value_head) return {1, {{0, 1, inverse_root(model.hidden)}}};
  return vocabulary_block(model, shard, inverse_root(model.hidden));
}

void slice_block(const BlockShard& shard, std::size_t hidden, std::span<const float> full,
                 std::span<float> part) {
  float* to = part.data();
  for (const RowRange& rows : shard.ranges) {
    to = std::copy_n(full.data() + rows.first * hidden, rows.count * hidden, to);
  }
}

void insert_block(const BlockShard& shard, std::size_t hidden, std::span<const float> part,
                  std::span<float> full) {
  const float* from = part.data();
  for (const RowRange& rows : shard.ranges) {
    std::copy_n(from, rows.count * hidden, full.data() + rows.first * hidden);
    from += rows.count * hidden;
  }
}

}  // namespace sextant::proxy
