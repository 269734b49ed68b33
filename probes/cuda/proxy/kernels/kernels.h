// The proxy's own kernels: all operations between the matrix products. bf16 in and out, fp32 inside.
//
// Plain C++17, because nvcc compiles this file too. Widths (hidden, intermediate, head_dim, vocabulary) are
// multiples of 8, pointers of 16 bytes. The functions check no errors: the caller queries the last one. A
// launch with no rows does nothing.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "probes/gpu/proxy/attention_layout.h"

namespace sextant::gpu {

using Bf16 = __nv_bfloat16;

// ---- norms and activations (elementwise.cu)

// out = x / sqrt(mean(x^2) + epsilon) per row; its factor goes to reciprocal (null: not needed).
void rms_norm(const Bf16* x, int rows, int width, Bf16* out, float* reciprocal, cudaStream_t stream);
// dx += gradient of the norm's input.
void rms_norm_backward(const Bf16* d_out, const Bf16* normed, const float* reciprocal, int rows, int width,
                       Bf16* dx, cudaStream_t stream);
// gate_up [rows, 2 width] holds gate | up: out = silu(gate) * up.
void silu_multiply(const Bf16* gate_up, std::size_t rows, int width, Bf16* out, cudaStream_t stream);
void silu_multiply_backward(const Bf16* gate_up, const Bf16* d_out, std::size_t rows, int width,
                            Bf16* d_gate_up, cudaStream_t stream);
// The tokens of a tensor-parallel group's rank in embedding and head; all of them on one rank.
struct VocabularyPart {
  int first = 0;
  int count = 0;
};
// x[i] = weights[tokens[i]]; with slots tokens[slots[i]]. Zero for tokens of other ranks.
void embed(const Bf16* weights, VocabularyPart part, const int* tokens, const int* slots, int rows, int width,
           Bf16* x, cudaStream_t stream);
// gradients[tokens[i]] += dx[i], for this rank's tokens.
void embed_backward(VocabularyPart part, const int* tokens, const Bf16* dx, int rows, int width,
                    Bf16* gradients, cudaStream_t stream);
// out[i] = x[rows_wanted[i]].
void pick_rows(const Bf16* x, const int* rows_wanted, int rows, int width, Bf16* out, cudaStream_t stream);

// ---- attention over packed sequences (attention.cu); places as in attention_layout.h

struct HeadShape {
  int heads = 0;
  int kv_heads = 0;
  int dim = 0;
};
// cosine and sine [positions, dim / 2].
struct RotaryTable {
  const float* cosine = nullptr;
  const float* sine = nullptr;
};
struct Places {
  const TokenPlace* data = nullptr;
  int count = 0;
};

// qkv [tokens, (heads + 2 kv_heads) dim] to query, key (both rotated) and value by head; padding is zero.
void split_heads(const HeadShape& shape, Places places, RotaryTable rotary, const Bf16* qkv, Bf16* query,
                 Bf16* key, Bf16* value, cudaStream_t stream);
// The inverse for gradients, rotated back.
void join_head_gradients(const HeadShape& shape, Places places, RotaryTable rotary, const Bf16* d_query,
                         const Bf16* d_key, const Bf16* d_value, Bf16* d_qkv, cudaStream_t stream);
// by_head [heads, L, dim] to rows [tokens, heads dim], and back with zero padding.
void join_heads(const HeadShape& shape, Places places, const Bf16* by_head, Bf16* rows, cudaStream_t stream);
void split_rows(const HeadShape& shape, Places places, const Bf16* rows, Bf16* by_head, cudaStream_t stream);

// rows of `length` scores each, row r at position r % length of its sequence: probabilities over columns up to
// its position, zero beyond.
void causal_softmax(Bf16* scores, std::size_t rows, int length, cudaStream_t stream);
// d_probabilities becomes the gradient of the scores.
void softmax_backward(const Bf16* probabilities, Bf16* d_probabilities, std::size_t rows, int length,
                      cudaStream_t stream);
// Maximum row length of these two functions.
inline constexpr int kMaxSoftmaxColumns = 16384;

// ---- decoding (decode.cu)

// Keys and values of one layer: [slots, kv_heads, capacity, dim].
struct CacheLayer {
  Bf16* keys = nullptr;
  Bf16* values = nullptr;
  int capacity = 0;
};
// Prefill: sequence s of the batch goes to slot first_slot + s.
void store_in_cache(const HeadShape& shape, Places places, const Bf16* key, const Bf16* value, int first_slot,
                    CacheLayer cache, cudaStream_t stream);

// The rows of a decode step: row i is the sequence in slots[i], its token at positions[i].
struct DecodeRows {
  const int* slots = nullptr;
  int* positions = nullptr;
  int count = 0;
};
// Rotates query and key of qkv [rows, ...] (query in place) and stores key and value.
void rotate_and_store(const HeadShape& shape, DecodeRows rows, RotaryTable rotary, Bf16* qkv, CacheLayer cache,
                      cudaStream_t stream);
// Number of parts in which each context is read in parallel, so that few sequences also fill the device.
[[nodiscard]] int decode_splits(const HeadShape& shape, int rows, int capacity, int multiprocessors);
// Floats of scratch for this number of rows and splits.
[[nodiscard]] std::size_t decode_partials(const HeadShape& shape, int rows, int splits);
// out [rows, heads dim]. head_dim 64 or 128, at most 8 heads a KV head. Two kernels: parts, and their merge.
void attend_cached(const HeadShape& shape, DecodeRows rows, const Bf16* qkv, CacheLayer cache, int splits,
                   float* partials, Bf16* out, cudaStream_t stream);
// Increments every position: on stages that do not sample.
void advance_positions(DecodeRows rows, cudaStream_t stream);

// ---- head (head.cu)

// Logits of a row are distributed over a tensor-parallel group: each rank reduces its own tokens, the ranks
// gather these parts, and every rank finishes. A single rank does it in one kernel.

// Samples the next token of every row: the largest logit, or with keys (one per row) a sample from the softmax
// by Gumbel noise. Writes it to latest[slot] and, as the token after `position`, to the slot's row of history;
// then increments the position.
struct SampledTokens {
  int* latest = nullptr;
  int* history = nullptr;              // [slots, capacity], from a sequence's first response token on
  const int* prompt_tokens = nullptr;  // by slot
  int capacity = 0;
};
void sample(const float* logits, int vocabulary, const std::uint64_t* keys, DecodeRows rows,
            SampledTokens sampled, cudaStream_t stream);
// The same in two steps: this rank's best of every row, and the best of [ranks, rows].
struct BestToken {
  float logit;  // with noise
  int token;
};
void find_best(const float* logits, VocabularyPart part, const std::uint64_t* keys, int rows, BestToken* best,
               cudaStream_t stream);
void choose_best(const BestToken* best, int ranks, DecodeRows rows, SampledTokens sampled, cudaStream_t stream);

// One rank's part of a row's softmax.
struct RowPart {
  float largest;
  float sum;     // of exponentials below it
  float target;  // the target's logit, 0 if another rank has it
};
void reduce_rows(const Bf16* logits, VocabularyPart part, const int* targets, int rows, RowPart* parts,
                 cudaStream_t stream);
// Parts of all ranks, [ranks, rows]; null if the logits are complete.
struct GatheredRows {
  const RowPart* parts = nullptr;
  int ranks = 1;
};

// log_probabilities[i] of targets[i]; 0 if the target is negative.
void log_probabilities(const Bf16* logits, VocabularyPart part, GatheredRows gathered, const int* targets,
                       int rows, float* result, cudaStream_t stream);
// Adds -weight log p to *loss, and turns the logits into their gradient; rows without a target become zero.
void loss_and_gradient(Bf16* logits, VocabularyPart part, GatheredRows gathered, const int* targets,
                       const float* weights, int rows, double* loss, cudaStream_t stream);

// ---- parameters (parameters.cu)

// Row r of `rows` rows: uniform with this deviation, by the keys of probes/proxy/model/parameters.cpp. master
// may be null.
struct InitialRows {
  std::uint64_t block_seed = 0;
  std::size_t first = 0;  // its row in the full block
  std::size_t rows = 0;
  int width = 0;
  float deviation = 1;
};
void initialise_rows(const InitialRows& rows, Bf16* weights, float* master, cudaStream_t stream);

struct AdamNumbers {
  float learning_rate;
  float first_decay;
  float second_decay;
  float epsilon;
  float first_correction;
  float second_correction;
};
void adam_update(const AdamNumbers& step, const Bf16* gradients, float* first_moments, float* second_moments,
                 float* master, Bf16* weights, std::size_t count, cudaStream_t stream);

}  // namespace sextant::gpu
