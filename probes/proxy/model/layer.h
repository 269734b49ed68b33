// One decoder layer on one rank of its tensor-parallel group:
//
//   x += output(attention(rotary(qkv(rms_norm(x)))))      all-reduce before the addition
//   x += down(silu(gate) * up), gate | up of rms_norm(x)  all-reduce before the addition
//
// Norms carry no weights, as in the cost model's parameter count. x is [tokens, hidden] and the same on
// every rank of the group. The backward pass all-reduces twice as well (Megatron-LM).
#pragma once

#include <vector>

#include "probes/comm/communicator.h"
#include "probes/proxy/model/attention.h"
#include "probes/proxy/model/parameters.h"
#include "probes/proxy/model/rotary.h"

namespace sextant::proxy {

struct LayerContext {
  LayerShape shape;
  Communicator* tensor = nullptr;
  const Rotary* rotary = nullptr;
};

// Results of the forward pass for the backward pass; in inference, scratch that every layer reuses.
struct LayerStash {
  LayerStash(const LayerShape& shape, const BatchLimits& limits, bool keep_probabilities);

  bool keeps_probabilities;
  Buffer normed_in;
  Buffer reciprocal_in;
  Buffer qkv;
  Buffer probabilities;
  Buffer attended;
  Buffer normed_middle;
  Buffer reciprocal_middle;
  Buffer gate_up;
  Buffer activated;
  Buffer partial;  // a rank's part of a sum over the group
};

struct BackwardScratch {
  BackwardScratch(const LayerShape& shape, const BatchLimits& limits);

  Buffer d_projected;  // of qkv, or of gate and up
  Buffer d_inner;      // of the attention's output, or of the activation
  Buffer d_normed;
  Buffer square;
};

// One token each for some cached sequences.
struct DecodeBatch {
  std::vector<int> tokens;
  std::vector<int> slots;
  std::vector<int> positions;  // position of the token in its sequence
  void clear();
  [[nodiscard]] int size() const { return static_cast<int>(tokens.size()); }
};

void forward_layer(const LayerContext& context, const LayerWeights& weights, const PackedBatch& batch,
                   LayerStash& stash, Matrix x);

// Rows of x are the batch's tokens; stores their keys and values in layer `layer` of the cache first.
void decode_layer(const LayerContext& context, const LayerWeights& weights, const DecodeBatch& batch,
                  KvCache& cache, int layer, LayerStash& stash, std::span<float> scores, Matrix x);

// dx changes from the gradient of the layer's output to that of its input; the gradients of the weights are
// added to `gradients`. The stash must keep probabilities and come from the same batch.
void backward_layer(const LayerContext& context, const LayerWeights& weights, const LayerWeights& gradients,
                    const PackedBatch& batch, LayerStash& stash, BackwardScratch& scratch, Matrix dx);

}  // namespace sextant::proxy
