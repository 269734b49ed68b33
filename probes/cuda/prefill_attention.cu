#include "probes/cuda/attention_fragments.cuh"
#include "probes/cuda/attention_instructions.cuh"
#include "probes/cuda/attention_kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kQueryRows = 16 * kWarps;  // of a block
constexpr int kTile = 64;                // tokens of keys and values in shared memory at once
constexpr int kStages = 2;
constexpr float kLog2OfE = 1.44269504F;
static_assert(kQueryRows == kTile, "only the last tile of a block's tokens is cut by causality");

template <int kDim>
constexpr int kChunksOfRow = kDim / 8;  // of 16 bytes

// The place of chunk `chunk` of a row in shared memory, so that the eight lanes that are served at once hit
// different banks: lanes read keys of rows g and values of rows 2 t.
__device__ int key_place(int row, int chunk) { return chunk ^ ((row & 1) << 2); }
__device__ int value_place(int row, int chunk) { return chunk ^ (((row >> 1) & 3) << 1); }

template <int kDim>
struct Tiles {
  uint4 keys[kStages][kTile][kChunksOfRow<kDim>];
  uint4 values[kStages][kTile][kChunksOfRow<kDim>];
};

template <int kDim>
__device__ void load_tile(const PrefillAttention& attention, int sequence, int kv_head, int tile, int stage,
                          Tiles<kDim>& tiles) {
  const AttentionShape& shape = attention.shape;
  const auto* keys = static_cast<const __nv_bfloat16*>(attention.keys);
  const auto* values = static_cast<const __nv_bfloat16*>(attention.values);
  constexpr int kChunks = kChunksOfRow<kDim>;
#pragma unroll
  for (int at = static_cast<int>(threadIdx.x); at < kTile * kChunks; at += kThreads) {
    const int row = at / kChunks;
    const int chunk = at % kChunks;
    // Rows past the end are masked later; any row will do for them.
    const int token = min(tile * kTile + row, shape.tokens - 1);
    const std::size_t offset =
        ((static_cast<std::size_t>(sequence) * shape.tokens + token) * shape.kv_heads + kv_head) * kDim;
    copy_async(&tiles.keys[stage][row][key_place(row, chunk)],
               reinterpret_cast<const uint4*>(keys + offset) + chunk);
    copy_async(&tiles.values[stage][row][value_place(row, chunk)],
               reinterpret_cast<const uint4*>(values + offset) + chunk);
  }
}

// One warp's sixteen rows against one tile.
template <int kDim>
__device__ void attend(const QueryFragments<kDim / 32>& query, const Tiles<kDim>& tiles, int stage,
                       int first_token, int first_row, bool is_masked, float scale_log2,
                       RunningSoftmax& softmax, float (&output)[kDim / 64][8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  float scores[kTile / 8][4] = {};
#pragma unroll
  for (int n = 0; n < kTile / 8; ++n) {
    const int row = 8 * n + g;
    uint4 keys[kDim / 32];
#pragma unroll
    for (int chunk = 0; chunk < kDim / 32; ++chunk) {
      keys[chunk] = tiles.keys[stage][row][key_place(row, 4 * chunk + t)];
    }
    add_scores(scores[n], query, keys);
    if (!is_masked) continue;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int token = first_token + 8 * n + 2 * t + e % 2;
      if (token > first_row + g + 8 * (e / 2)) scores[n][e] = -INFINITY;
    }
  }
  float rescale[2];
  softmax.update(scores, scale_log2, rescale);
  scale_output(output, rescale);
#pragma unroll
  for (int step = 0; step < kTile / 16; ++step) {
    const Fragment4 weights = weights_of(scores[2 * step], scores[2 * step + 1]);
#pragma unroll
    for (int half = 0; half < kDim / 64; ++half) {
      uint4 values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = 16 * step + 2 * t + i % 2 + 8 * (i / 2);
        values[i] = tiles.values[stage][row][value_place(row, 8 * half + g)];
      }
      add_values(output[half], weights, values);
    }
  }
}

template <int kDim>
__global__ void __launch_bounds__(kThreads, 2) prefill_kernel(PrefillAttention attention) {
  extern __shared__ uint4 memory[];
  auto& tiles = *reinterpret_cast<Tiles<kDim>*>(memory);
  const AttentionShape& shape = attention.shape;
  const int head = static_cast<int>(blockIdx.y);
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const int sequence = static_cast<int>(blockIdx.z);
  const int last_tile = static_cast<int>(gridDim.x - 1 - blockIdx.x);  // the longest blocks first
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = last_tile * kQueryRows + static_cast<int>(threadIdx.x) / 32 * 16;
  const float scale_log2 = kLog2OfE * rsqrtf(static_cast<float>(kDim));
  const auto row_offset = [&](int row) {
    return ((static_cast<std::size_t>(sequence) * shape.tokens + row) * shape.heads + head) * kDim;
  };

  load_tile<kDim>(attention, sequence, kv_head, 0, 0, tiles);
  commit_copies();
  QueryFragments<kDim / 32> query;
#pragma unroll
  for (int chunk = 0; chunk < kDim / 32; ++chunk) {
    const auto load = [&](int row) {
      const auto* queries = static_cast<const __nv_bfloat16*>(attention.query);
      return reinterpret_cast<const uint4*>(queries +
                                            row_offset(min(row, shape.tokens - 1)))[4 * chunk + lane % 4];
    };
    query.set(chunk, load(first_row + lane / 4), load(first_row + lane / 4 + 8));
  }
  RunningSoftmax softmax;
  float output[kDim / 64][8][4] = {};
  for (int tile = 0; tile <= last_tile; ++tile) {
    if (tile < last_tile) load_tile<kDim>(attention, sequence, kv_head, tile + 1, (tile + 1) % kStages, tiles);
    commit_copies();
    wait_for_all_copies_but<1>();
    __syncthreads();
    attend<kDim>(query, tiles, tile % kStages, tile * kTile, first_row, tile == last_tile, scale_log2, softmax,
                 output);
    __syncthreads();  // before the next copy overwrites this stage
  }
  softmax.finish();
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    const int row = first_row + lane / 4 + 8 * upper;
    if (row >= shape.tokens) continue;
    auto* out = static_cast<__nv_bfloat16*>(attention.output) + row_offset(row);
    const float inverse = 1.0F / softmax.sum[upper];
#pragma unroll
    for (int half = 0; half < kDim / 64; ++half) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {  // the eight products of a half are eight neighbours
        std::uint32_t words[4];
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
          words[j / 2] =
              pack(inverse * output[half][j][2 * upper + e], inverse * output[half][j + 1][2 * upper + e]);
        }
        *reinterpret_cast<uint4*>(out + dimension_of(half, 0, lane % 4, e)) =
            make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }
}

template <int kDim>
void launch(const PrefillAttention& attention, cudaStream_t stream) {
  const AttentionShape& shape = attention.shape;
  constexpr int kBytes = static_cast<int>(sizeof(Tiles<kDim>));
  // More than 48 KiB must be asked for; a refusal shows in the launch's error.
  static_cast<void>(
      cudaFuncSetAttribute(prefill_kernel<kDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const dim3 grid(static_cast<unsigned>((shape.tokens + kQueryRows - 1) / kQueryRows),
                  static_cast<unsigned>(shape.heads), static_cast<unsigned>(shape.batch));
  prefill_kernel<kDim><<<grid, kThreads, kBytes, stream>>>(attention);
}

}  // namespace

void prefill_attention(const PrefillAttention& attention, cudaStream_t stream) {
  if (attention.shape.head_dim == 64) {
    launch<64>(attention, stream);
  } else {
    launch<128>(attention, stream);
  }
}

}  // namespace sextant::gpu
