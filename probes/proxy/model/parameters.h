// The weights that one rank holds for its stage, and for training their gradients and Adam's moments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probes/proxy/model/buffer.h"
#include "probes/proxy/model/kernels.h"
#include "probes/proxy/model/shard.h"

namespace sextant::proxy {

// One layer's matrices: qkv [qkv_width, hidden], output [attention_width, hidden],
// gate_up [2 * intermediate, hidden], down [intermediate, hidden].
template <typename AnyMatrix>
struct BasicLayerWeights {
  AnyMatrix qkv;
  AnyMatrix output;
  AnyMatrix gate_up;
  AnyMatrix down;
};
using LayerWeights = BasicLayerWeights<Matrix>;

// Returns a rank's part of a layer's block, in host or device memory.
template <typename AnyMatrix>
[[nodiscard]] BasicLayerWeights<AnyMatrix> cut_layer(const AnyMatrix& block, const LayerShape& local) {
  int row = 0;
  const auto next = [&](int rows) {
    row += rows;
    return block.rows_from(row - rows, rows);
  };
  // A braced list is evaluated in its order.
  return {next(local.qkv_width()), next(local.attention_width()), next(2 * local.intermediate),
          next(local.intermediate)};
}

// Returns the seed of a full block's initial weights: its row r starts at mix(block_seed + r).
[[nodiscard]] std::uint64_t block_seed(const Model& model, unsigned seed, int block);

enum class Purpose { forward_only, training };

class StageParameters {
 public:
  // Initial weights depend only on the seed, the model and the position in the full model, so that any two
  // layouts of one model start with equal weights.
  StageParameters(const StageShape& shape, unsigned seed, Purpose purpose);

  [[nodiscard]] const StageShape& shape() const { return shape_; }
  // `layer` is numbered within the stage.
  [[nodiscard]] LayerWeights layer(int layer) { return layer_in(values_, layer); }
  [[nodiscard]] LayerWeights layer_gradients(int layer) { return layer_in(gradients_, layer); }
  // The embedding, on the first stage: [vocabulary, hidden] of this rank.
  [[nodiscard]] Matrix embedding() { return block_matrix(values_, 0); }
  [[nodiscard]] Matrix embedding_gradients() { return block_matrix(gradients_, 0); }
  // The head, on the last stage: [vocabulary, hidden] of this rank, or [1, hidden] for a value head.
  [[nodiscard]] Matrix head() { return block_matrix(values_, shape_.end_block() - 1); }
  [[nodiscard]] Matrix head_gradients() { return block_matrix(gradients_, shape_.end_block() - 1); }

  // `block` is numbered within the model; the stage must hold it.
  [[nodiscard]] std::span<float> block(int block);
  [[nodiscard]] std::span<float> values() { return values_; }
  [[nodiscard]] std::span<float> gradients() { return gradients_; }

  void clear_gradients();
  void take_adam_step(float learning_rate);

 private:
  void initialise(unsigned seed);
  [[nodiscard]] std::size_t offset_of(int block) const;
  [[nodiscard]] Matrix block_matrix(Buffer& storage, int block);
  [[nodiscard]] LayerWeights layer_in(Buffer& storage, int layer);

  StageShape shape_;
  std::vector<BlockShard> blocks_;
  std::vector<std::size_t> offsets_;  // offset of each block, and the end
  Buffer values_;
  Buffer gradients_;
  Buffer first_moments_;
  Buffer second_moments_;
  int steps_ = 0;
};

}  // namespace sextant::proxy
