// One decoder layer on one GPU of its tensor-parallel group, forward, backward and decoding: the operations of
// probes/proxy/model/layer.h in bf16.
//
// Sums over the group are all-reduces in bf16, as frameworks do: after each branch (x itself: the first rank
// adds its part to it, the others leave theirs) and in the backward pass before each norm.
//
// Attention over packed sequences is batched products with a softmax between them, all pairs of a sequence's
// tokens masked afterwards, so that the FLOP are 4 s^2 hidden as the cost model counts them without fused
// attention.
#pragma once

#include <vector>

#include "probes/cuda/proxy/device_parameters.h"
#include "probes/cuda/proxy/gpu.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/proxy/attention_layout.h"
#include "probes/gpu/proxy/device_sizes.h"
#include "probes/proxy/model/batch.h"

namespace sextant::gpu {

[[nodiscard]] HeadShape head_shape(const proxy::LayerShape& shape);

// Angles for all positions of a task's sequences.
class DeviceRotary {
 public:
  DeviceRotary(ProxyGpu& gpu, int dim, int positions);
  [[nodiscard]] RotaryTable table() const { return {cosine_.data(), sine_.data()}; }

 private:
  DeviceArray<float> cosine_;
  DeviceArray<float> sine_;
};

// A packed batch and the places of its tokens.
class DeviceBatch {
 public:
  DeviceBatch() = default;
  explicit DeviceBatch(const AttentionLimits& limits)
      : tokens_(static_cast<std::size_t>(limits.tokens)), places_(limits.rows) {}
  void upload(ProxyGpu& gpu, const proxy::PackedBatch& batch);
  [[nodiscard]] int token_count() const { return token_count_; }
  [[nodiscard]] const int* tokens() const { return tokens_.data(); }
  [[nodiscard]] Places places() const { return {places_.data(), static_cast<int>(layout_.rows())}; }
  [[nodiscard]] const AttentionLayout& layout() const { return layout_; }

 private:
  DeviceArray<int> tokens_;
  DeviceArray<TokenPlace> places_;
  AttentionLayout layout_;
  int token_count_ = 0;
};

// Results of the forward pass for the backward pass; in inference, scratch that every layer reuses.
struct DeviceStash {
  DeviceStash(const proxy::LayerShape& shape, const AttentionLimits& limits, bool keep_probabilities);
  bool keeps_probabilities;
  DeviceArray<Bf16> normed_in;
  DeviceArray<float> reciprocal_in;
  DeviceArray<Bf16> query;
  DeviceArray<Bf16> key;
  DeviceArray<Bf16> value;
  DeviceArray<Bf16> probabilities;  // if kept: of the whole batch
  DeviceArray<Bf16> attended;
  DeviceArray<Bf16> normed_middle;
  DeviceArray<float> reciprocal_middle;
  DeviceArray<Bf16> gate_up;
  DeviceArray<Bf16> activated;
};

// Scratch for one pass at a time.
struct DeviceScratch {
  DeviceScratch(const proxy::LayerShape& shape, const AttentionLimits& limits, proxy::Purpose purpose);
  DeviceArray<Bf16> qkv;      // of tokens; in the backward pass its gradient, or that of gate and up
  DeviceArray<Bf16> by_head;  // attention's output or its gradient
  DeviceArray<Bf16> scores;   // for as many heads as fit
  // Used in the backward pass only.
  DeviceArray<Bf16> d_query;
  DeviceArray<Bf16> d_key;
  DeviceArray<Bf16> d_value;
  DeviceArray<Bf16> d_inner;
  DeviceArray<Bf16> d_normed;
};

struct DeviceLayerContext {
  ProxyGpu& gpu;
  proxy::LayerShape shape;
  RotaryTable rotary;
  GpuCollectives* tensor = nullptr;  // null: one rank
};

void forward_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights,
                   const DeviceBatch& batch, DeviceStash& stash, DeviceScratch& scratch, DeviceMatrix x);

// dx changes from the gradient of the layer's output to that of its input; gradients of weights are added.
void backward_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights,
                    const DeviceLayerWeights& gradients, const DeviceBatch& batch, DeviceStash& stash,
                    DeviceScratch& scratch, DeviceMatrix dx);

// Buffers of a decode step for at most `rows` sequences.
struct DecodeScratch {
  DecodeScratch(const proxy::LayerShape& shape, int rows, int capacity, int multiprocessors);
  DeviceArray<Bf16> normed;
  DeviceArray<Bf16> qkv;
  DeviceArray<Bf16> attended;
  DeviceArray<Bf16> gate_up;
  DeviceArray<Bf16> activated;
  DeviceArray<float> partials;
};

// Rows of x are the tokens of the step; their keys and values are stored first.
void decode_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights, DecodeRows rows,
                  CacheLayer cache, DecodeScratch& scratch, DeviceMatrix x);

}  // namespace sextant::gpu
