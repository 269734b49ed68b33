#include "probes/cuda/attention_fragments.cuh"
#include "probes/cuda/attention_kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kWarps = 4;
constexpr int kRows = kMaxHeadsPerGroup;
static_assert(kMinPagesPerSplit == 4 * kWarps);
constexpr float kLog2OfE = 1.44269504F;

// The partial result of a block, or of a warp within it: the weighted sum of values, not yet divided by `sum`.
struct Part {
  float maximum;
  float sum;
};
__device__ float weight_of(const Part& part, float maximum) {
  return part.maximum == -INFINITY ? 0.0F : exp2_fast(part.maximum - maximum);
}

template <int kDim>
struct Pages {
  static constexpr int kChunks = kDim / 32;
  static constexpr int kHalves = kDim / 64;
  const __nv_bfloat16* base;  // of this head's part of page 0
  std::size_t page_stride;    // elements
  int g;
  int t;

  __device__ const uint4* row(int page, int token) const {
    return reinterpret_cast<const uint4*>(base + page * page_stride + token * kDim);
  }
  // Loads the keys of tokens g and g + 8.
  __device__ void load_keys(int page, uint4 (&keys)[2][kChunks]) const {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        keys[tile][chunk] = __ldcs(row(page, 8 * tile + g) + 4 * chunk + t);
      }
    }
  }
  __device__ void load_values(int page, uint4 (&values)[kHalves][4]) const {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[half][i] = __ldcs(row(page, 2 * t + i % 2 + 8 * (i / 2)) + 8 * half + g);
      }
    }
  }
};

template <int kDim>
__device__ void load_query(const DecodeAttention& attention, int sequence, int kv_head,
                           QueryFragments<kDim / 32>& query) {
  const int lane = threadIdx.x % 32;
  const int group = attention.shape.heads / attention.shape.kv_heads;
  const auto* rows = static_cast<const __nv_bfloat16*>(attention.query) +
                     (static_cast<std::size_t>(sequence) * attention.shape.heads + kv_head * group) * kDim;
  const auto load = [&](int row, int chunk) {
    if (row >= group) return make_uint4(0, 0, 0, 0);
    return reinterpret_cast<const uint4*>(rows + row * kDim)[4 * chunk + lane % 4];
  };
#pragma unroll
  for (int chunk = 0; chunk < kDim / 32; ++chunk) {
    query.set(chunk, load(lane / 4, chunk), load(lane / 4 + 8, chunk));
  }
}

// Parts of the block's warps, put together: [warp][row][dimension].
template <int kDim>
struct Shared {
  Part parts[kWarps][kRows];
  float outputs[kWarps][kRows][kDim];
};

template <int kDim>
__device__ void finish_block(const DecodeAttention& attention, int sequence, int kv_head,
                             const Shared<kDim>& shared) {
  const AttentionShape& shape = attention.shape;
  const int group = shape.heads / shape.kv_heads;
  for (int at = threadIdx.x; at < group * kDim; at += kWarps * 32) {
    const int row = at / kDim;
    const int dimension = at % kDim;
    float maximum = -INFINITY;
    for (int warp = 0; warp < kWarps; ++warp) maximum = fmaxf(maximum, shared.parts[warp][row].maximum);
    float sum = 0;
    float output = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      const float weight = weight_of(shared.parts[warp][row], maximum);
      sum += weight * shared.parts[warp][row].sum;
      output += weight * shared.outputs[warp][row][dimension];
    }
    const std::size_t head = static_cast<std::size_t>(sequence) * shape.heads + kv_head * group + row;
    if (attention.splits == 1) {
      static_cast<__nv_bfloat16*>(attention.output)[head * kDim + dimension] = __float2bfloat16(output / sum);
      continue;
    }
    float* part = attention.partials + (head * attention.splits + blockIdx.x) * (kDim + 2);
    part[dimension] = output;
    if (dimension == 0) {
      part[kDim] = maximum;
      part[kDim + 1] = sum;
    }
  }
}

// A block: one sequence, the query heads of one key-value head, one split of the pages; a warp takes every
// kWarps-th page. The keys of a warp's next page are on their way while it works on this one.
template <int kDim>
__global__ void __launch_bounds__(kWarps * 32, 2)
    decode_kernel(DecodeAttention attention, int pages_per_split) {
  __shared__ Shared<kDim> shared;
  const AttentionShape& shape = attention.shape;
  const int kv_head = static_cast<int>(blockIdx.y);
  const int sequence = static_cast<int>(blockIdx.z);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int pages = (shape.tokens + kTokensPerPage - 1) / kTokensPerPage;
  const int* table = attention.page_table + static_cast<std::size_t>(sequence) * pages;
  const int end = min(pages, (static_cast<int>(blockIdx.x) + 1) * pages_per_split);
  const std::size_t head_offset = static_cast<std::size_t>(kv_head) * kTokensPerPage * kDim;
  const std::size_t page_stride = static_cast<std::size_t>(shape.kv_heads) * kTokensPerPage * kDim;
  const Pages<kDim> key_pages{static_cast<const __nv_bfloat16*>(attention.keys) + head_offset, page_stride, g,
                              t};
  const Pages<kDim> value_pages{static_cast<const __nv_bfloat16*>(attention.values) + head_offset, page_stride,
                                g, t};
  const float scale_log2 = kLog2OfE * rsqrtf(static_cast<float>(kDim));
  QueryFragments<kDim / 32> query;
  load_query<kDim>(attention, sequence, kv_head, query);

  RunningSoftmax softmax;
  float output[kDim / 64][8][4] = {};
  uint4 keys[2][kDim / 32];
  int at = static_cast<int>(blockIdx.x) * pages_per_split + warp;
  int page = at < end ? table[at] : 0;
  if (at < end) key_pages.load_keys(page, keys);
  for (; at < end; at += kWarps) {
    const int next_page = at + kWarps < end ? table[at + kWarps] : page;
    uint4 values[kDim / 64][4];
    value_pages.load_values(page, values);
    float scores[2][4] = {};
    add_scores(scores[0], query, keys[0]);
    add_scores(scores[1], query, keys[1]);
    if (at + kWarps < end) key_pages.load_keys(next_page, keys);
    if ((at + 1) * kTokensPerPage > shape.tokens) {
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int token = at * kTokensPerPage + 8 * tile + 2 * t + e % 2;
          if (token >= shape.tokens) scores[tile][e] = -INFINITY;
        }
      }
    }
    float rescale[2];
    softmax.update(scores, scale_log2, rescale);
    scale_output(output, rescale);
    const Fragment4 weights = weights_of(scores[0], scores[1]);
#pragma unroll
    for (int half = 0; half < kDim / 64; ++half) add_values(output[half], weights, values[half]);
    page = next_page;
  }
  softmax.finish();
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    const int row = g + 8 * upper;
    if (t == 0) shared.parts[warp][row] = {softmax.maximum[upper], softmax.sum[upper]};
#pragma unroll
    for (int half = 0; half < kDim / 64; ++half) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          shared.outputs[warp][row][dimension_of(half, j, t, e)] = output[half][j][2 * upper + e];
        }
      }
    }
  }
  __syncthreads();
  finish_block<kDim>(attention, sequence, kv_head, shared);
}

// One block a query head, one thread a dimension.
__global__ void combine_kernel(const float* partials, __nv_bfloat16* output, int dim, int splits) {
  const std::size_t head = blockIdx.x;
  const float* parts = partials + head * splits * (dim + 2);
  const int dimension = static_cast<int>(threadIdx.x);
  float maximum = -INFINITY;
  for (int split = 0; split < splits; ++split) maximum = fmaxf(maximum, parts[split * (dim + 2) + dim]);
  float sum = 0;
  float total = 0;
  for (int split = 0; split < splits; ++split) {
    const float* part = parts + split * (dim + 2);
    const float weight = weight_of({part[dim], part[dim + 1]}, maximum);
    sum += weight * part[dim + 1];
    total += weight * part[dimension];
  }
  output[head * dim + dimension] = __float2bfloat16(total / sum);
}

template <int kDim>
void launch(const DecodeAttention& attention, cudaStream_t stream) {
  const AttentionShape& shape = attention.shape;
  const int pages_per_split = (pages_of(shape) + attention.splits - 1) / attention.splits;
  const dim3 grid(static_cast<unsigned>(attention.splits), static_cast<unsigned>(shape.kv_heads),
                  static_cast<unsigned>(shape.batch));
  decode_kernel<kDim><<<grid, kWarps * 32, 0, stream>>>(attention, pages_per_split);
  if (attention.splits == 1) return;
  combine_kernel<<<static_cast<unsigned>(shape.batch * shape.heads), kDim, 0, stream>>>(
      attention.partials, static_cast<__nv_bfloat16*>(attention.output), kDim, attention.splits);
}

}  // namespace

int decode_slots(const AttentionShape& shape) {
  int device = 0;
  int processors = 0;
  int blocks = 0;
  const void* kernel = shape.head_dim == 64 ? reinterpret_cast<const void*>(decode_kernel<64>)
                                            : reinterpret_cast<const void*>(decode_kernel<128>);
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kWarps * 32, 0) != cudaSuccess) {
    return 1;
  }
  return processors * blocks > 0 ? processors * blocks : 1;
}

void decode_attention(const DecodeAttention& attention, cudaStream_t stream) {
  if (attention.shape.head_dim == 64) {
    launch<64>(attention, stream);
  } else {
    launch<128>(attention, stream);
  }
}

}  // namespace sextant::gpu
