// The part of each weight matrix on a rank of a tensor-parallel group (Megatron-LM's partitioning).
//
// Every matrix is stored as rows of `hidden` elements, so that the part of one rank is a range of rows:
// query, key, value, gate and up are cut by output, output projection and down by input; the embedding and
// the vocabulary head by token. A model's weights are numbered blocks: 0 the embedding, 1 .. layers the
// layers, layers + 1 the head. Tied embeddings are treated as two separate matrices.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sextant/model.h"

namespace sextant::proxy {

struct TensorShard {
  int rank = 0;
  int size = 1;
};

// Local sizes of one layer. With more ranks than KV heads each rank holds one KV head, shared by
// size / kv_heads ranks.
struct LayerShape {
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int intermediate = 0;
  [[nodiscard]] int attention_width() const { return heads * head_dim; }
  [[nodiscard]] int kv_width() const { return kv_heads * head_dim; }
  [[nodiscard]] int qkv_width() const { return attention_width() + 2 * kv_width(); }
  [[nodiscard]] int heads_per_kv_head() const { return heads / kv_heads; }
};
[[nodiscard]] LayerShape layer_shape(const Model& model, TensorShard shard);
// Returns the first KV head on the rank.
[[nodiscard]] int first_kv_head(const Model& model, TensorShard shard);

// One pipeline stage on one rank.
struct StageShape {
  Model model;
  TensorShard shard;
  int first_layer = 0;
  int layers = 1;
  [[nodiscard]] bool is_first() const { return first_layer == 0; }
  [[nodiscard]] bool is_last() const { return first_layer + layers == model.layers; }
  [[nodiscard]] int vocabulary() const { return model.vocabulary / shard.size; }
  [[nodiscard]] int first_token() const { return shard.rank * vocabulary(); }
  // Blocks of the stage: [first_block, end_block).
  [[nodiscard]] int first_block() const { return is_first() ? 0 : first_layer + 1; }
  [[nodiscard]] int end_block() const { return first_layer + layers + (is_last() ? 2 : 1); }
};

struct RowRange {
  std::size_t first = 0;  // position in the full block
  std::size_t count = 0;
  float scale = 1;  // standard deviation of the initial weights
};

// A rank's part of a block: its ranges one after another.
struct BlockShard {
  std::size_t full_rows = 0;
  std::vector<RowRange> ranges;
  [[nodiscard]] std::size_t rows() const;
};

[[nodiscard]] int block_count(const Model& model);
[[nodiscard]] BlockShard block_shard(const Model& model, int block, TensorShard shard);

// The first copies the rank's part out of a full block, the second a rank's part into one.
void slice_block(const BlockShard& shard, std::size_t hidden, std::span<const float> full,
                 std::span<float> part);
void insert_block(const BlockShard& shard, std::size_t hidden, std::span<const float> part,
                  std::span<float> full);

}  // namespace sextant::proxy
