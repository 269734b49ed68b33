#include "probes/cuda/proxy/kernels/device_math.cuh"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kMaxThreads = 512;  // a row
constexpr float kNothing = -1.0e30F;

// The maximum of a row and the sum of exponentials below it, in every thread.
struct RowSum {
  float largest;
  float sum;
};
__device__ RowSum reduce_row(const Bf16* logits, int vocabulary) {
  float largest = kNothing;
  float sum = 0;
  for (int at = threadIdx.x * 8; at < vocabulary; at += blockDim.x * 8) {
    float values[8];
    load8(logits + at, values);
    float above = largest;
#pragma unroll
    for (int i = 0; i < 8; ++i) above = fmaxf(above, values[i]);
    sum *= __expf(largest - above);
    largest = above;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += __expf(values[i] - largest);
  }
  const float above = block_max(largest);
  return {above, block_sum(sum * __expf(largest - above))};
}

__device__ RowPart part_of_row(const Bf16* of_row, VocabularyPart part, int target) {
  const RowSum reduced = reduce_row(of_row, part.count);
  const bool is_mine = target >= part.first && target < part.first + part.count;
  return {reduced.largest, reduced.sum, is_mine ? __bfloat162float(of_row[target - part.first]) : 0.0F};
}

// The row over the whole vocabulary, in every thread.
__device__ RowPart whole_row(const Bf16* of_row, VocabularyPart part, GatheredRows gathered, int target) {
  if (gathered.parts == nullptr) return part_of_row(of_row, part, target);
  const std::size_t row = blockIdx.x;
  const std::size_t rows = gridDim.x;
  RowPart whole = gathered.parts[row];
  for (int rank = 1; rank < gathered.ranks; ++rank) {
    const RowPart other = gathered.parts[rank * rows + row];
    const float above = fmaxf(whole.largest, other.largest);
    whole.sum = whole.sum * __expf(whole.largest - above) + other.sum * __expf(other.largest - above);
    whole.largest = above;
    whole.target += other.target;
  }
  return whole;
}

__device__ float log_probability(const RowPart& row) { return row.target - row.largest - logf(row.sum); }

__global__ void reduce_rows_kernel(const Bf16* logits, VocabularyPart part, const int* targets,
                                   RowPart* parts) {
  const std::size_t row = blockIdx.x;
  if (targets[row] < 0) {
    if (threadIdx.x == 0) parts[row] = {0, 0, 0};
    return;
  }
  const RowPart reduced = part_of_row(logits + row * part.count, part, targets[row]);
  if (threadIdx.x == 0) parts[row] = reduced;
}

__global__ void log_probabilities_kernel(const Bf16* logits, VocabularyPart part, GatheredRows gathered,
                                         const int* targets, float* result) {
  const std::size_t row = blockIdx.x;
  const int target = targets[row];
  if (target < 0) {
    if (threadIdx.x == 0) result[row] = 0;
    return;
  }
  const RowPart whole = whole_row(logits + row * part.count, part, gathered, target);
  if (threadIdx.x == 0) result[row] = log_probability(whole);
}

__global__ void loss_kernel(Bf16* logits, VocabularyPart part, GatheredRows gathered, const int* targets,
                            const float* weights, double* loss) {
  const std::size_t row = blockIdx.x;
  const int target = targets[row];
  const int vocabulary = part.count;
  Bf16* of_row = logits + row * vocabulary;
  if (target < 0) {
    for (int at = threadIdx.x * 8; at < vocabulary; at += blockDim.x * 8) {
      *reinterpret_cast<uint4*>(of_row + at) = make_uint4(0, 0, 0, 0);
    }
    return;
  }
  const RowPart reduced = whole_row(of_row, part, gathered, target);
  const float weight = weights[row];
  if (threadIdx.x == 0) atomicAdd(loss, -static_cast<double>(weight) * log_probability(reduced));
  __syncthreads();  // the target's logit has been read
  const float factor = weight / reduced.sum;
  for (int at = threadIdx.x * 8; at < vocabulary; at += blockDim.x * 8) {
    float values[8];
    load8(of_row + at, values);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      values[i] =
          factor * __expf(values[i] - reduced.largest) - (part.first + at + i == target ? weight : 0.0F);
    }
    store8(of_row + at, values);
  }
}

// The same numbers as probes/proxy/model/random.h.
__device__ float gumbel(std::uint64_t key) {
  constexpr float kHalfStep = 0x1p-25F;
  return -logf(-logf(uniform_of(key) + kHalfStep));
}

__device__ bool is_better(float value, int token, float best, int best_token) {
  return value > best || (value == best && token < best_token);
}

// In thread 0.
__device__ BestToken best_of_row(const float* logits, VocabularyPart part, const std::uint64_t* keys) {
  const std::size_t row = blockIdx.x;
  const int vocabulary = part.count;
  const float* of_row = logits + row * vocabulary;
  float best = -3.0e38F;
  int token = vocabulary;
  for (int at = threadIdx.x * 4; at < vocabulary; at += blockDim.x * 4) {
    const float4 raw = *reinterpret_cast<const float4*>(of_row + at);
    const float values[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float value = keys == nullptr ? values[i] : values[i] + gumbel(keys[row] + part.first + at + i);
      if (is_better(value, at + i, best, token)) {
        best = value;
        token = at + i;
      }
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    const float other = __shfl_xor_sync(0xffffffffU, best, lane);
    const int other_token = __shfl_xor_sync(0xffffffffU, token, lane);
    if (is_better(other, other_token, best, token)) {
      best = other;
      token = other_token;
    }
  }
  __shared__ float bests[kMaxThreads / 32];
  __shared__ int tokens[kMaxThreads / 32];
  if (threadIdx.x % 32 == 0) {
    bests[threadIdx.x / 32] = best;
    tokens[threadIdx.x / 32] = token;
  }
  __syncthreads();
  for (int warp = 1; threadIdx.x == 0 && warp < static_cast<int>(blockDim.x / 32); ++warp) {
    if (is_better(bests[warp], tokens[warp], best, token)) {
      best = bests[warp];
      token = tokens[warp];
    }
  }
  if (token >= vocabulary) token = 0;  // every logit was NaN
  return {best, part.first + token};
}

__device__ void note_token(int token, std::size_t row, const int* slots, int* positions,
                           const SampledTokens& sampled) {
  const std::size_t slot = slots[row];
  const int next = positions[row] + 1;
  sampled.latest[slot] = token;
  const int response = next - sampled.prompt_tokens[slot];
  if (response >= 0 && response < sampled.capacity) sampled.history[slot * sampled.capacity + response] = token;
  positions[row] = next;
}

__global__ void sample_kernel(const float* logits, VocabularyPart part, const std::uint64_t* keys,
                              const int* slots, int* positions, SampledTokens sampled) {
  const BestToken best = best_of_row(logits, part, keys);
  if (threadIdx.x == 0) note_token(best.token, blockIdx.x, slots, positions, sampled);
}

__global__ void find_best_kernel(const float* logits, VocabularyPart part, const std::uint64_t* keys,
                                 BestToken* result) {
  const BestToken best = best_of_row(logits, part, keys);
  if (threadIdx.x == 0) result[blockIdx.x] = best;
}

// Ranks are in the order of their tokens, so the first of equals wins on any number of ranks.
__global__ void choose_best_kernel(const BestToken* best, int ranks, int rows, const int* slots, int* positions,
                                   SampledTokens sampled) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  BestToken chosen = best[row];
  for (int rank = 1; rank < ranks; ++rank) {
    const BestToken other = best[static_cast<std::size_t>(rank) * rows + row];
    if (other.logit > chosen.logit) chosen = other;
  }
  note_token(chosen.token, row, slots, positions, sampled);
}

// Whole warps, enough for the packs of a row.
int row_threads(int vocabulary, int pack) {
  const int threads = ((vocabulary + pack - 1) / pack + 31) / 32 * 32;
  return threads < kMaxThreads ? threads : kMaxThreads;
}

}  // namespace

void sample(const float* logits, int vocabulary, const std::uint64_t* keys, DecodeRows rows,
            SampledTokens sampled, cudaStream_t stream) {
  if (rows.count == 0) return;
  const VocabularyPart all{0, vocabulary};
  sample_kernel<<<rows.count, row_threads(vocabulary, 4), 0, stream>>>(logits, all, keys, rows.slots,
                                                                       rows.positions, sampled);
}

void find_best(const float* logits, VocabularyPart part, const std::uint64_t* keys, int rows, BestToken* best,
               cudaStream_t stream) {
  if (rows == 0) return;
  find_best_kernel<<<rows, row_threads(part.count, 4), 0, stream>>>(logits, part, keys, best);
}

void choose_best(const BestToken* best, int ranks, DecodeRows rows, SampledTokens sampled,
                 cudaStream_t stream) {
  if (rows.count == 0) return;
  constexpr int kThreads = 128;
  const int blocks = (rows.count + kThreads - 1) / kThreads;
  choose_best_kernel<<<blocks, kThreads, 0, stream>>>(best, ranks, rows.count, rows.slots, rows.positions,
                                                      sampled);
}

void reduce_rows(const Bf16* logits, VocabularyPart part, const int* targets, int rows, RowPart* parts,
                 cudaStream_t stream) {
  if (rows == 0) return;
  reduce_rows_kernel<<<rows, row_threads(part.count, 8), 0, stream>>>(logits, part, targets, parts);
}

void log_probabilities(const Bf16* logits, VocabularyPart part, GatheredRows gathered, const int* targets,
                       int rows, float* result, cudaStream_t stream) {
  if (rows == 0) return;
  log_probabilities_kernel<<<rows, row_threads(part.count, 8), 0, stream>>>(logits, part, gathered, targets,
                                                                            result);
}

void loss_and_gradient(Bf16* logits, VocabularyPart part, GatheredRows gathered, const int* targets,
                       const float* weights, int rows, double* loss, cudaStream_t stream) {
  if (rows == 0) return;
  loss_kernel<<<rows, row_threads(part.count, 8), 0, stream>>>(logits, part, gathered, targets, weights, loss);
}

}  // namespace sextant::gpu
