// Grouped-query attention over packed sequences. Each query head multiplies all pairs of a sequence's tokens
// and masks afterwards, so that the FLOP are 4 s^2 hidden, as the cost model counts them.
#pragma once

#include "probes/proxy/model/batch.h"
#include "probes/proxy/model/buffer.h"
#include "probes/proxy/model/kv_cache.h"
#include "probes/proxy/model/shard.h"

namespace sextant::proxy {

// Probabilities of a batch: head after head, sequence after sequence if kept for a backward pass; else one
// reused [s, s] square.
struct Probabilities {
  std::span<float> storage;
  bool kept = false;
};
// Returns the number of floats in `storage`.
[[nodiscard]] std::size_t probability_floats(const LayerShape& shape, const BatchLimits& limits, bool kept);

// out [tokens, attention_width] from rotated qkv [tokens, qkv_width].
void attend(const LayerShape& shape, const PackedBatch& batch, ConstMatrix qkv, Probabilities probabilities,
            Matrix out);

// d_qkv (overwritten) from d_out; the probabilities must have been kept. `square` is scratch for one [s, s].
void attend_backward(const LayerShape& shape, const PackedBatch& batch, ConstMatrix qkv,
                     std::span<const float> probabilities, ConstMatrix d_out, std::span<float> square,
                     Matrix d_qkv);

// One new token of the sequence in `slot` attends to the first `context` cached tokens (including its own): out
// [attention_width]. `scores` is scratch for heads_per_kv_head * context.
void attend_cached(const LayerShape& shape, const KvCache& cache, int layer, int slot, int context,
                   const float* query, std::span<float> scores, float* out);

}  // namespace sextant::proxy
