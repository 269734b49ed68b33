#include "probes/cuda/proxy/device_parameters.h"

#include <cmath>

#include "sextant/error.h"

namespace sextant::gpu {

using namespace proxy;

DeviceParameters::DeviceParameters(ProxyGpu& gpu, const StageShape& shape, unsigned seed, Purpose purpose)
    : gpu_(gpu), shape_(shape) {
  std::size_t offset = 0;
  for (int block = shape_.first_block(); block < shape_.end_block(); ++block) {
    blocks_.push_back(block_shard(shape_.model, block, shape_.shard));
    offsets_.push_back(offset);
    offset += blocks_.back().rows() * static_cast<std::size_t>(shape_.model.hidden);
  }
  offsets_.push_back(offset);
  values_ = DeviceArray<Bf16>(offset);
  if (purpose == Purpose::training) {
    gradients_ = DeviceArray<Bf16>(offset);
    master_ = DeviceArray<float>(offset);
    first_moments_ = DeviceArray<float>(offset);
    second_moments_ = DeviceArray<float>(offset);
  }
  initialise(seed);
}

void DeviceParameters::initialise(unsigned seed) {
  const auto hidden = static_cast<std::size_t>(shape_.model.hidden);
  std::size_t at = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const int block = shape_.first_block() + static_cast<int>(i);
    for (const RowRange& rows : blocks_[i].ranges) {
      const InitialRows part{block_seed(shape_.model, seed, block), rows.first, rows.count, shape_.model.hidden,
                             rows.scale};
      initialise_rows(part, values_.data() + at, master_.size() > 0 ? master_.data() + at : nullptr,
                      gpu_.stream());
      at += rows.count * hidden;
    }
  }
  gpu_.wait("initialising weights");
}

DeviceMatrix DeviceParameters::block_in(const DeviceArray<Bf16>& storage, int block) const {
  SEXTANT_CHECK(block >= shape_.first_block() && block < shape_.end_block());
  const auto i = static_cast<std::size_t>(block - shape_.first_block());
  const int hidden = shape_.model.hidden;
  return {storage.data() + offsets_[i], static_cast<int>(blocks_[i].rows()), hidden, hidden};
}

DeviceLayerWeights DeviceParameters::layer_in(const DeviceArray<Bf16>& storage, int layer) const {
  return cut_layer(block_in(storage, shape_.first_layer + 1 + layer), layer_shape(shape_.model, shape_.shard));
}

void DeviceParameters::clear_gradients() {
  check_cuda(cudaMemsetAsync(gradients_.data(), 0, gradients_.size() * sizeof(Bf16), gpu_.stream()),
             "clearing gradients");
}

void DeviceParameters::take_adam_step(float learning_rate) {
  ++steps_;
  AdamStep step;
  step.learning_rate = learning_rate;
  const auto count = static_cast<float>(steps_);
  adam_update({learning_rate, step.first_decay, step.second_decay, step.epsilon,
               1.0F - std::pow(step.first_decay, count), 1.0F - std::pow(step.second_decay, count)},
              gradients_.data(), first_moments_.data(), second_moments_.data(), master_.data(), values_.data(),
              values_.size(), gpu_.stream());
}

}  // namespace sextant::gpu
