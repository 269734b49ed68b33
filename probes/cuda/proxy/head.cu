#include "probes/cuda/proxy/device_math.cuh"
#include "probes/cuda/proxy/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kMostThreads = 512;  // a row
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

__global__ void log_probabilities_kernel(const Bf16* logits, const int* targets, int vocabulary,
                                         float* result) {
  const std::size_t row = blockIdx.x;
  const int target = targets[row];
  if (target < 0) {
    if (threadIdx.x == 0) result[row] = 0;
    return;
  }
  const Bf16* of_row = logits + row * vocabulary;
  const RowSum reduced = reduce_row(of_row, vocabulary);
  if (threadIdx.x == 0) {
    result[row] = __bfloat162float(of_row[target]) - reduced.largest - logf(reduced.sum);
  }
}

__global__ void loss_kernel(Bf16* logits, const int* targets, const float* weights, int vocabulary,
                            double* loss) {
  const std::size_t row = blockIdx.x;
  const int target = targets[row];
  Bf16* of_row = logits + row * vocabulary;
  if (target < 0) {
    for (int at = threadIdx.x * 8; at < vocabulary; at += blockDim.x * 8) {
      *reinterpret_cast<uint4*>(of_row + at) = make_uint4(0, 0, 0, 0);
    }
    return;
  }
  const RowSum reduced = reduce_row(of_row, vocabulary);
  const float weight = weights[row];
  if (threadIdx.x == 0) {
    const float log_p = __bfloat162float(of_row[target]) - reduced.largest - logf(reduced.sum);
    atomicAdd(loss, -static_cast<double>(weight) * log_p);
  }
  __syncthreads();  // the target's logit has been read
  const float factor = weight / reduced.sum;
  for (int at = threadIdx.x * 8; at < vocabulary; at += blockDim.x * 8) {
    float values[8];
    load8(of_row + at, values);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      values[i] = factor * __expf(values[i] - reduced.largest) - (at + i == target ? weight : 0.0F);
    }
    store8(of_row + at, values);
  }
}

// As probes/proxy/random.h.
__device__ float gumbel(std::uint64_t key) {
  constexpr float kHalfStep = 0x1p-25F;
  return -logf(-logf(uniform_of(key) + kHalfStep));
}

__device__ bool is_better(float value, int token, float best, int best_token) {
  return value > best || (value == best && token < best_token);
}

__global__ void sample_kernel(const float* logits, int vocabulary, const std::uint64_t* keys, const int* slots,
                              int* positions, SampledTokens sampled) {
  const std::size_t row = blockIdx.x;
  const float* of_row = logits + row * vocabulary;
  float best = -3.0e38F;
  int token = vocabulary;
  for (int at = threadIdx.x * 4; at < vocabulary; at += blockDim.x * 4) {
    const float4 raw = *reinterpret_cast<const float4*>(of_row + at);
    const float values[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float value = keys == nullptr ? values[i] : values[i] + gumbel(keys[row] + at + i);
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
  __shared__ float bests[kMostThreads / 32];
  __shared__ int tokens[kMostThreads / 32];
  if (threadIdx.x % 32 == 0) {
    bests[threadIdx.x / 32] = best;
    tokens[threadIdx.x / 32] = token;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); ++warp) {
    if (is_better(bests[warp], tokens[warp], best, token)) {
      best = bests[warp];
      token = tokens[warp];
    }
  }
  if (token >= vocabulary) token = 0;  // every logit was NaN
  const std::size_t slot = slots[row];
  const int next = positions[row] + 1;
  sampled.latest[slot] = token;
  const int response = next - sampled.prompt_tokens[slot];
  if (response >= 0 && response < sampled.capacity) sampled.history[slot * sampled.capacity + response] = token;
  positions[row] = next;
}

// Whole warps, enough for the packs of a row.
int row_threads(int vocabulary, int pack) {
  const int threads = ((vocabulary + pack - 1) / pack + 31) / 32 * 32;
  return threads < kMostThreads ? threads : kMostThreads;
}

}  // namespace

void sample(const float* logits, int vocabulary, const std::uint64_t* keys, DecodeRows rows,
            SampledTokens sampled, cudaStream_t stream) {
  if (rows.count == 0) return;
  sample_kernel<<<rows.count, row_threads(vocabulary, 4), 0, stream>>>(logits, vocabulary, keys, rows.slots,
                                                                       rows.positions, sampled);
}

void log_probabilities(const Bf16* logits, const int* targets, int rows, int vocabulary, float* result,
                       cudaStream_t stream) {
  if (rows == 0) return;
  log_probabilities_kernel<<<rows, row_threads(vocabulary, 8), 0, stream>>>(logits, targets, vocabulary,
                                                                            result);
}

void loss_and_gradient(Bf16* logits, const int* targets, const float* weights, int rows, int vocabulary,
                       double* loss, cudaStream_t stream) {
  if (rows == 0) return;
  loss_kernel<<<rows, row_threads(vocabulary, 8), 0, stream>>>(logits, targets, weights, vocabulary, loss);
}

}  // namespace sextant::gpu
