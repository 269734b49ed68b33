#include "probes/cuda/proxy/kernels/device_math.cuh"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kThreads = 128;
constexpr float kNothing = -1.0e30F;  // below every score; finite, so that differences are numbers
constexpr float kLog2E = 1.4426950408889634F;

__global__ void store_in_cache_kernel(HeadShape shape, const TokenPlace* places, const Bf16* key,
                                      const Bf16* value, int first_slot, CacheLayer cache) {
  const TokenPlace place = places[blockIdx.x];
  if (place.source < 0) return;
  const int packs_a_head = shape.dim / 8;
  const std::size_t slot = first_slot + place.sequence;
  for (int item = threadIdx.x; item < shape.kv_heads * packs_a_head; item += blockDim.x) {
    const int head = item / packs_a_head;
    const int within = item % packs_a_head * 8;
    const std::size_t from = (static_cast<std::size_t>(place.base) * shape.kv_heads +
                              static_cast<std::size_t>(head) * place.length + place.position) *
                                 shape.dim +
                             within;
    const std::size_t to =
        ((slot * shape.kv_heads + head) * cache.capacity + place.position) * shape.dim + within;
    *reinterpret_cast<uint4*>(cache.keys + to) = *reinterpret_cast<const uint4*>(key + from);
    *reinterpret_cast<uint4*>(cache.values + to) = *reinterpret_cast<const uint4*>(value + from);
  }
}

__global__ void rotate_and_store_kernel(HeadShape shape, const int* slots, const int* positions,
                                        RotaryTable rotary, Bf16* qkv, CacheLayer cache) {
  const std::size_t row = blockIdx.x;
  const std::size_t slot = slots[row];
  const int position = positions[row];
  const int half = shape.dim / 2;
  const int items_a_head = half / 8;
  const int all_heads = shape.heads + 2 * shape.kv_heads;
  for (int item = threadIdx.x; item < all_heads * items_a_head; item += blockDim.x) {
    const int head = item / items_a_head;
    const int within = item % items_a_head * 8;
    Bf16* from = qkv + (row * all_heads + head) * shape.dim + within;
    float a[8], b[8];
    load8(from, a);
    load8(from + half, b);
    const int kv_head =
        head < shape.heads + shape.kv_heads ? head - shape.heads : head - shape.heads - shape.kv_heads;
    const std::size_t cached =
        ((slot * shape.kv_heads + kv_head) * cache.capacity + position) * shape.dim + within;
    if (head >= shape.heads + shape.kv_heads) {
      store8(cache.values + cached, a);
      store8(cache.values + cached + half, b);
      continue;
    }
    const float* cosine = rotary.cosine + static_cast<std::size_t>(position) * half + within;
    const float* sine = rotary.sine + static_cast<std::size_t>(position) * half + within;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float x = a[i];
      a[i] = x * cosine[i] - b[i] * sine[i];
      b[i] = x * sine[i] + b[i] * cosine[i];
    }
    if (head < shape.heads) {
      store8(from, a);
      store8(from + half, b);
    } else {
      store8(cache.keys + cached, a);
      store8(cache.keys + cached + half, b);
    }
  }
}

// One block: the query heads of one KV head of one sequence over a part of its context. DIM / 8 lanes share a
// key, each with eight of its channels; every key and value is read once for all heads of the group. A lane
// keeps its own running maximum and sum (Dao et al. 2022); the block's parts are merged at the end.
template <int DIM, int GROUP>
__global__ void __launch_bounds__(kThreads)
    attend_kernel(HeadShape shape, const int* slots, const int* positions, const Bf16* qkv, CacheLayer cache,
                  float scale, int splits, float* partials) {
  constexpr int kLanes = DIM / 8;
  constexpr int kKeys = kThreads / kLanes;  // side by side
  constexpr int kUnroll = 4;
  const int kv_head = blockIdx.x;
  const std::size_t row = blockIdx.y;
  const int split = blockIdx.z;
  const int group_heads = shape.heads / shape.kv_heads;
  const int lane = threadIdx.x % kLanes;
  const int mine = threadIdx.x / kLanes;
  const int context = positions[row] + 1;
  const int share = ((context + splits - 1) / splits + kKeys - 1) / kKeys * kKeys;
  const int begin = min(split * share, context);
  const int end = min(begin + share, context);

  float query[GROUP][8];
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
#pragma unroll
    for (int i = 0; i < 8; ++i) query[g][i] = 0;
    if (g < group_heads) {
      const std::size_t head = kv_head * group_heads + g;
      load8(qkv + (row * (shape.heads + 2 * shape.kv_heads) + head) * DIM + lane * 8, query[g]);
#pragma unroll
      for (int i = 0; i < 8; ++i) query[g][i] *= scale * kLog2E;
    }
  }
  float largest[GROUP], sum[GROUP], out[GROUP][8];
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
    largest[g] = kNothing;
    sum[g] = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) out[g][i] = 0;
  }

  const std::size_t base =
      (static_cast<std::size_t>(slots[row]) * shape.kv_heads + kv_head) * cache.capacity * DIM + lane * 8;
  // The same number of rounds in every lane, because lanes of a warp exchange sums.
  for (int first = begin; first < end; first += kKeys * kUnroll) {
    uint4 keys[kUnroll], values[kUnroll];
    float scores[kUnroll][GROUP];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int at = min(first + u * kKeys + mine, end - 1);
      keys[u] = *reinterpret_cast<const uint4*>(cache.keys + base + static_cast<std::size_t>(at) * DIM);
      values[u] = *reinterpret_cast<const uint4*>(cache.values + base + static_cast<std::size_t>(at) * DIM);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      float key[8];
      unpack8(keys[u], key);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) {
        float dot = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) dot += query[g][i] * key[i];
#pragma unroll
        for (int other = kLanes / 2; other > 0; other /= 2) dot += __shfl_xor_sync(0xffffffffU, dot, other);
        scores[u][g] = first + u * kKeys + mine < end ? dot : kNothing;
      }
    }
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
      float above = largest[g];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) above = fmaxf(above, scores[u][g]);
      const float shrink = exp2f(largest[g] - above);
      largest[g] = above;
      sum[g] *= shrink;
#pragma unroll
      for (int i = 0; i < 8; ++i) out[g][i] *= shrink;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        scores[u][g] = first + u * kKeys + mine < end ? exp2f(scores[u][g] - above) : 0.0F;
        sum[g] += scores[u][g];
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      float value[8];
      unpack8(values[u], value);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) {
#pragma unroll
        for (int i = 0; i < 8; ++i) out[g][i] += scores[u][g] * value[i];
      }
    }
  }

  // At most 34 KiB.
  __shared__ float parts[kKeys][GROUP][DIM];
  __shared__ float part_largest[kKeys][GROUP];
  __shared__ float part_sum[kKeys][GROUP];
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
#pragma unroll
    for (int i = 0; i < 8; ++i) parts[mine][g][lane * 8 + i] = out[g][i];
    if (lane == 0) {
      part_largest[mine][g] = largest[g];
      part_sum[mine][g] = sum[g];
    }
  }
  __syncthreads();
  for (int item = threadIdx.x; item < group_heads * DIM; item += kThreads) {
    const int g = item / DIM;
    const int channel = item % DIM;
    float above = kNothing;
    for (int part = 0; part < kKeys; ++part) above = fmaxf(above, part_largest[part][g]);
    float total = 0;
    float weight_sum = 0;
    for (int part = 0; part < kKeys; ++part) {
      const float weight = exp2f(part_largest[part][g] - above);
      total += weight * parts[part][g][channel];
      weight_sum += weight * part_sum[part][g];
    }
    const std::size_t head = kv_head * group_heads + g;
    float* to = partials + ((row * shape.heads + head) * splits + split) * (DIM + 2);
    to[channel] = total;
    if (channel == 0) {
      to[DIM] = above;
      to[DIM + 1] = weight_sum;
    }
  }
}

// One block a head and row, one thread a channel.
__global__ void merge_kernel(HeadShape shape, int splits, const float* partials, Bf16* out) {
  const std::size_t row = blockIdx.y;
  const std::size_t head = row * shape.heads + blockIdx.x;
  const float* from = partials + head * splits * (shape.dim + 2);
  float above = kNothing;
  for (int split = 0; split < splits; ++split) above = fmaxf(above, from[split * (shape.dim + 2) + shape.dim]);
  float total = 0;
  float sum = 0;
  for (int split = 0; split < splits; ++split) {
    const float* part = from + split * (shape.dim + 2);
    const float weight = exp2f(part[shape.dim] - above);
    total += weight * part[threadIdx.x];
    sum += weight * part[shape.dim + 1];
  }
  out[head * shape.dim + threadIdx.x] = __float2bfloat16(total / sum);
}

template <int DIM>
void launch_attend(const HeadShape& shape, DecodeRows rows, const Bf16* qkv, CacheLayer cache, int splits,
                   float* partials, cudaStream_t stream) {
  const dim3 grid(shape.kv_heads, rows.count, splits);
  const float scale = rsqrtf(static_cast<float>(DIM));
  const auto launch = [&](auto kernel) {
    kernel<<<grid, kThreads, 0, stream>>>(shape, rows.slots, rows.positions, qkv, cache, scale, splits,
                                          partials);
  };
  const int group = shape.heads / shape.kv_heads;
  if (group <= 1) return launch(attend_kernel<DIM, 1>);
  if (group <= 2) return launch(attend_kernel<DIM, 2>);
  if (group <= 4) return launch(attend_kernel<DIM, 4>);
  launch(attend_kernel<DIM, 8>);
}

__global__ void advance_positions_kernel(int* positions, int count) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < count) ++positions[row];
}

}  // namespace

void store_in_cache(const HeadShape& shape, Places places, const Bf16* key, const Bf16* value, int first_slot,
                    CacheLayer cache, cudaStream_t stream) {
  if (places.count == 0) return;
  store_in_cache_kernel<<<places.count, kThreads, 0, stream>>>(shape, places.data, key, value, first_slot,
                                                               cache);
}

void rotate_and_store(const HeadShape& shape, DecodeRows rows, RotaryTable rotary, Bf16* qkv, CacheLayer cache,
                      cudaStream_t stream) {
  if (rows.count == 0) return;
  rotate_and_store_kernel<<<rows.count, kThreads, 0, stream>>>(shape, rows.slots, rows.positions, rotary, qkv,
                                                               cache);
}

int decode_splits(const HeadShape& shape, int rows, int capacity, int multiprocessors) {
  constexpr int kBlocksAMultiprocessor = 4;
  constexpr int kMinKeys = 64;
  const int blocks = rows * shape.kv_heads;
  const int wanted = (kBlocksAMultiprocessor * multiprocessors + blocks - 1) / blocks;
  const int maximum = (capacity + kMinKeys - 1) / kMinKeys;
  return wanted < maximum ? wanted : maximum;
}

std::size_t decode_partials(const HeadShape& shape, int rows, int splits) {
  return static_cast<std::size_t>(rows) * shape.heads * splits * (shape.dim + 2);
}

void attend_cached(const HeadShape& shape, DecodeRows rows, const Bf16* qkv, CacheLayer cache, int splits,
                   float* partials, Bf16* out, cudaStream_t stream) {
  if (rows.count == 0) return;
  if (shape.dim == 64) {
    launch_attend<64>(shape, rows, qkv, cache, splits, partials, stream);
  } else {
    launch_attend<128>(shape, rows, qkv, cache, splits, partials, stream);
  }
  merge_kernel<<<dim3(shape.heads, rows.count), shape.dim, 0, stream>>>(shape, splits, partials, out);
}

void advance_positions(DecodeRows rows, cudaStream_t stream) {
  if (rows.count == 0) return;
  const int blocks = (rows.count + kThreads - 1) / kThreads;
  advance_positions_kernel<<<blocks, kThreads, 0, stream>>>(rows.positions, rows.count);
}

}  // namespace sextant::gpu
