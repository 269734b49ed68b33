#include "probes/proxy/model/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "probes/proxy/model/random.h"
#include "sextant/error.h"

namespace sextant::proxy {
namespace {

// FNV-1a: the same on every rank and every machine, which std::hash does not promise.
std::uint64_t hash_name(const std::string& name) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

// Uniform with mean 0 and the given standard deviation.
void fill_row(std::span<float> row, std::uint64_t row_seed, float deviation) {
  const float width = 2 * std::sqrt(3.0F) * deviation;
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = (uniform(row_seed + j) - 0.5F) * width;
  }
}

}  // namespace

std::uint64_t block_seed(const Model& model, unsigned seed, int block) {
  return mix((mix(seed) ^ hash_name(model.name)) + static_cast<std::uint64_t>(block));
}

StageParameters::StageParameters(const StageShape& shape, unsigned seed, Purpose purpose) : shape_(shape) {
  std::size_t offset = 0;
  for (int block = shape_.first_block(); block < shape_.end_block(); ++block) {
    blocks_.push_back(block_shard(shape_.model, block, shape_.shard));
    offsets_.push_back(offset);
    offset += blocks_.back().rows() * static_cast<std::size_t>(shape_.model.hidden);
  }
  offsets_.push_back(offset);
  values_.resize(offset);
  if (purpose == Purpose::training) {
    gradients_.resize(offset);
    first_moments_.resize(offset);
    second_moments_.resize(offset);
  }
  initialise(seed);
}

void StageParameters::initialise(unsigned seed) {
  const auto hidden = static_cast<std::size_t>(shape_.model.hidden);
  float* to = values_.data();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint64_t seed_of_block =
        block_seed(shape_.model, seed, shape_.first_block() + static_cast<int>(i));
    for (const RowRange& rows : blocks_[i].ranges) {
      for (std::size_t row = rows.first; row < rows.first + rows.count; ++row, to += hidden) {
        fill_row({to, hidden}, mix(seed_of_block + row), rows.scale);
      }
    }
  }
}

std::size_t StageParameters::offset_of(int block) const {
  SEXTANT_CHECK(block >= shape_.first_block() && block < shape_.end_block());
  return offsets_[static_cast<std::size_t>(block - shape_.first_block())];
}

std::span<float> StageParameters::block(int block) {
  const auto& shard = blocks_[static_cast<std::size_t>(block - shape_.first_block())];
  return std::span(values_).subspan(offset_of(block), shard.rows() * shape_.model.hidden);
}

Matrix StageParameters::block_matrix(Buffer& storage, int block) {
  const auto& shard = blocks_[static_cast<std::size_t>(block - shape_.first_block())];
  const int hidden = shape_.model.hidden;
  return {storage.data() + offset_of(block), static_cast<int>(shard.rows()), hidden, hidden};
}

LayerWeights StageParameters::layer_in(Buffer& storage, int layer) {
  return cut_layer(block_matrix(storage, shape_.first_layer + 1 + layer),
                   layer_shape(shape_.model, shape_.shard));
}

void StageParameters::clear_gradients() { std::fill(gradients_.begin(), gradients_.end(), 0.0F); }

void StageParameters::take_adam_step(float learning_rate) {
  ++steps_;
  AdamStep step;
  step.learning_rate = learning_rate;
  step.first_correction = 1.0F - std::pow(step.first_decay, static_cast<float>(steps_));
  step.second_correction = 1.0F - std::pow(step.second_decay, static_cast<float>(steps_));
  adam_update(step, gradients_, first_moments_, second_moments_, values_);
}

}  // namespace sextant::proxy
