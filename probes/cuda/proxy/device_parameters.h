// The weights of one pipeline stage on one GPU, its part in the tensor-parallel group: bf16, and for training
// bf16 gradients with an fp32 master copy and Adam's moments in fp32, 16 bytes per parameter. Layout and
// initial values are those of probes/proxy/model/parameters.h, rounded to bf16.
#pragma once

#include <vector>

#include "probes/cuda/proxy/gpu.h"
#include "probes/proxy/model/parameters.h"

namespace sextant::gpu {

using DeviceLayerWeights = proxy::BasicLayerWeights<DeviceMatrix>;

class DeviceParameters {
 public:
  DeviceParameters(ProxyGpu& gpu, const proxy::StageShape& shape, unsigned seed, proxy::Purpose purpose);

  [[nodiscard]] const proxy::StageShape& shape() const { return shape_; }
  [[nodiscard]] DeviceLayerWeights layer(int layer) const { return layer_in(values_, layer); }
  [[nodiscard]] DeviceLayerWeights layer_gradients(int layer) const { return layer_in(gradients_, layer); }
  // The embedding, on the first stage: [vocabulary, hidden] of this rank.
  [[nodiscard]] DeviceMatrix embedding() const { return block_in(values_, 0); }
  [[nodiscard]] DeviceMatrix embedding_gradients() const { return block_in(gradients_, 0); }
  // The head, on the last stage.
  [[nodiscard]] DeviceMatrix head() const { return block_in(values_, shape_.end_block() - 1); }
  [[nodiscard]] DeviceMatrix head_gradients() const { return block_in(gradients_, shape_.end_block() - 1); }
  // A block of this stage, numbered within the model.
  [[nodiscard]] DeviceMatrix block(int block) const { return block_in(values_, block); }

  [[nodiscard]] const DeviceArray<Bf16>& values() const { return values_; }
  [[nodiscard]] const DeviceArray<Bf16>& gradients() const { return gradients_; }

  void clear_gradients();
  void take_adam_step(float learning_rate);

 private:
  void initialise(unsigned seed);
  [[nodiscard]] DeviceMatrix block_in(const DeviceArray<Bf16>& storage, int block) const;
  [[nodiscard]] DeviceLayerWeights layer_in(const DeviceArray<Bf16>& storage, int layer) const;

  ProxyGpu& gpu_;
  proxy::StageShape shape_;
  std::vector<proxy::BlockShard> blocks_;
  std::vector<std::size_t> offsets_;  // offset of each block, and the end
  DeviceArray<Bf16> values_;
  DeviceArray<Bf16> gradients_;
  DeviceArray<float> master_;
  DeviceArray<float> first_moments_;
  DeviceArray<float> second_moments_;
  int steps_ = 0;
};

}  // namespace sextant::gpu
