#include <type_traits>

#include "probes/cuda/proxy/kernels/device_math.cuh"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kThreads = 128;

// Eight elements and the eight that are rotated with them, from one row to another.
__device__ void rotate8(const Bf16* from, Bf16* to, int half, const float* cosine, const float* sine,
                        float direction) {
  float a[8], b[8];
  load8(from, a);
  load8(from + half, b);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float s = direction * sine[i];
    const float c = cosine[i];
    const float x = a[i];
    a[i] = x * c - b[i] * s;
    b[i] = x * s + b[i] * c;
  }
  store8(to, a);
  store8(to + half, b);
}

__device__ void copy8(const Bf16* from, Bf16* to) {
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
}
__device__ void zero8(Bf16* to) { *reinterpret_cast<uint4*>(to) = make_uint4(0, 0, 0, 0); }

// Start of a head's row of a place in a tensor of `heads` heads by head.
__device__ std::size_t by_head_at(const TokenPlace& place, int heads, int head, int dim) {
  return (static_cast<std::size_t>(place.base) * heads + static_cast<std::size_t>(head) * place.length +
          place.position) *
         dim;
}

__global__ void split_heads_kernel(HeadShape shape, const TokenPlace* places, RotaryTable rotary,
                                   const Bf16* qkv, Bf16* query, Bf16* key, Bf16* value) {
  const TokenPlace place = places[blockIdx.x];
  const int half = shape.dim / 2;
  const int items_a_head = half / 8;
  const int all_heads = shape.heads + 2 * shape.kv_heads;
  for (int item = threadIdx.x; item < all_heads * items_a_head; item += blockDim.x) {
    const int head = item / items_a_head;
    const int within = item % items_a_head * 8;
    Bf16* to = nullptr;
    if (head < shape.heads) {
      to = query + by_head_at(place, shape.heads, head, shape.dim);
    } else if (head < shape.heads + shape.kv_heads) {
      to = key + by_head_at(place, shape.kv_heads, head - shape.heads, shape.dim);
    } else {
      to = value + by_head_at(place, shape.kv_heads, head - shape.heads - shape.kv_heads, shape.dim);
    }
    to += within;
    if (place.source < 0) {
      zero8(to);
      zero8(to + half);
      continue;
    }
    const Bf16* from = qkv + (static_cast<std::size_t>(place.source) * all_heads + head) * shape.dim + within;
    if (head < shape.heads + shape.kv_heads) {
      const std::size_t angle = static_cast<std::size_t>(place.position) * half + within;
      rotate8(from, to, half, rotary.cosine + angle, rotary.sine + angle, 1.0F);
    } else {
      copy8(from, to);
      copy8(from + half, to + half);
    }
  }
}

__global__ void join_head_gradients_kernel(HeadShape shape, const TokenPlace* places, RotaryTable rotary,
                                           const Bf16* d_query, const Bf16* d_key, const Bf16* d_value,
                                           Bf16* d_qkv) {
  const TokenPlace place = places[blockIdx.x];
  if (place.source < 0) return;
  const int half = shape.dim / 2;
  const int items_a_head = half / 8;
  const int all_heads = shape.heads + 2 * shape.kv_heads;
  for (int item = threadIdx.x; item < all_heads * items_a_head; item += blockDim.x) {
    const int head = item / items_a_head;
    const int within = item % items_a_head * 8;
    Bf16* to = d_qkv + (static_cast<std::size_t>(place.source) * all_heads + head) * shape.dim + within;
    if (head >= shape.heads + shape.kv_heads) {
      const Bf16* from =
          d_value + by_head_at(place, shape.kv_heads, head - shape.heads - shape.kv_heads, shape.dim) + within;
      copy8(from, to);
      copy8(from + half, to + half);
      continue;
    }
    const Bf16* from = head < shape.heads
                           ? d_query + by_head_at(place, shape.heads, head, shape.dim)
                           : d_key + by_head_at(place, shape.kv_heads, head - shape.heads, shape.dim);
    const std::size_t angle = static_cast<std::size_t>(place.position) * half + within;
    rotate8(from + within, to, half, rotary.cosine + angle, rotary.sine + angle, -1.0F);
  }
}

// kTo: rows to by_head; else back.
template <bool kTo>
__global__ void move_heads_kernel(HeadShape shape, const TokenPlace* places, const Bf16* from, Bf16* to) {
  const TokenPlace place = places[blockIdx.x];
  if (!kTo && place.source < 0) return;
  const int items_a_head = shape.dim / 8;
  for (int item = threadIdx.x; item < shape.heads * items_a_head; item += blockDim.x) {
    const int head = item / items_a_head;
    const int within = item % items_a_head * 8;
    const std::size_t by_head = by_head_at(place, shape.heads, head, shape.dim) + within;
    if (kTo && place.source < 0) {
      zero8(to + by_head);
      continue;
    }
    const std::size_t row = (static_cast<std::size_t>(place.source) * shape.heads + head) * shape.dim + within;
    copy8(from + (kTo ? row : by_head), to + (kTo ? by_head : row));
  }
}

// One block a row; each thread holds kItems packs of it.
template <int kItems>
__global__ void causal_softmax_kernel(Bf16* scores, int length) {
  const std::size_t row = blockIdx.x;
  const int position = static_cast<int>(row % length);
  Bf16* at = scores + row * length;
  float values[kItems][8];
  float largest = -3.0e38F;
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int column = (item * blockDim.x + threadIdx.x) * 8;
    if (column > position) continue;
    load8(at + column, values[item]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (column + i <= position) largest = fmaxf(largest, values[item][i]);
    }
  }
  largest = block_max(largest);
  float sum = 0;
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int column = (item * blockDim.x + threadIdx.x) * 8;
    if (column > position) continue;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      values[item][i] = column + i <= position ? __expf(values[item][i] - largest) : 0.0F;
      sum += values[item][i];
    }
  }
  const float factor = 1.0F / block_sum(sum);
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int column = (item * blockDim.x + threadIdx.x) * 8;
    if (column >= length) continue;
    if (column > position) {
      zero8(at + column);
      continue;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) values[item][i] *= factor;
    store8(at + column, values[item]);
  }
}

template <int kItems>
__global__ void softmax_backward_kernel(const Bf16* probabilities, Bf16* d_probabilities, int length) {
  const std::size_t row = blockIdx.x;
  const int position = static_cast<int>(row % length);
  const Bf16* p_at = probabilities + row * length;
  Bf16* d_at = d_probabilities + row * length;
  uint4 p_raw[kItems];
  uint4 d_raw[kItems];
  float sum = 0;
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int column = (item * blockDim.x + threadIdx.x) * 8;
    if (column > position) continue;
    p_raw[item] = *reinterpret_cast<const uint4*>(p_at + column);
    d_raw[item] = *reinterpret_cast<const uint4*>(d_at + column);
    float p[8], d[8];
    unpack8(p_raw[item], p);
    unpack8(d_raw[item], d);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += column + i <= position ? p[i] * d[i] : 0.0F;
  }
  sum = block_sum(sum);
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int column = (item * blockDim.x + threadIdx.x) * 8;
    if (column >= length) continue;
    if (column > position) {
      zero8(d_at + column);
      continue;
    }
    float p[8], d[8];
    unpack8(p_raw[item], p);
    unpack8(d_raw[item], d);
#pragma unroll
    for (int i = 0; i < 8; ++i) d[i] = column + i <= position ? p[i] * (d[i] - sum) : 0.0F;
    store8(d_at + column, d);
  }
}

// Calls launch<items>(threads) so that items * threads * 8 columns hold a row.
template <typename Launch>
void for_columns(int length, Launch launch) {
  const int packs = (length + 7) / 8;
  const int threads = packs < kThreads ? (packs + 31) / 32 * 32 : kThreads;
  const int items = (packs + threads - 1) / threads;
  if (items <= 1) return launch(std::integral_constant<int, 1>{}, threads);
  if (items <= 2) return launch(std::integral_constant<int, 2>{}, threads);
  if (items <= 4) return launch(std::integral_constant<int, 4>{}, threads);
  if (items <= 8) return launch(std::integral_constant<int, 8>{}, threads);
  launch(std::integral_constant<int, 8>{}, 2 * threads);
}

}  // namespace

void split_heads(const HeadShape& shape, Places places, RotaryTable rotary, const Bf16* qkv, Bf16* query,
                 Bf16* key, Bf16* value, cudaStream_t stream) {
  if (places.count == 0) return;
  split_heads_kernel<<<places.count, kThreads, 0, stream>>>(shape, places.data, rotary, qkv, query, key, value);
}

void join_head_gradients(const HeadShape& shape, Places places, RotaryTable rotary, const Bf16* d_query,
                         const Bf16* d_key, const Bf16* d_value, Bf16* d_qkv, cudaStream_t stream) {
  if (places.count == 0) return;
  join_head_gradients_kernel<<<places.count, kThreads, 0, stream>>>(shape, places.data, rotary, d_query, d_key,
                                                                    d_value, d_qkv);
}

void join_heads(const HeadShape& shape, Places places, const Bf16* by_head, Bf16* rows, cudaStream_t stream) {
  if (places.count == 0) return;
  move_heads_kernel<false><<<places.count, kThreads, 0, stream>>>(shape, places.data, by_head, rows);
}

void split_rows(const HeadShape& shape, Places places, const Bf16* rows, Bf16* by_head, cudaStream_t stream) {
  if (places.count == 0) return;
  move_heads_kernel<true><<<places.count, kThreads, 0, stream>>>(shape, places.data, rows, by_head);
}

void causal_softmax(Bf16* scores, std::size_t rows, int length, cudaStream_t stream) {
  if (rows == 0) return;
  for_columns(length, [&](auto items, int threads) {
    causal_softmax_kernel<decltype(items)::value>
        <<<static_cast<unsigned>(rows), threads, 0, stream>>>(scores, length);
  });
}

void softmax_backward(const Bf16* probabilities, Bf16* d_probabilities, std::size_t rows, int length,
                      cudaStream_t stream) {
  if (rows == 0) return;
  for_columns(length, [&](auto items, int threads) {
    softmax_backward_kernel<decltype(items)::value>
        <<<static_cast<unsigned>(rows), threads, 0, stream>>>(probabilities, d_probabilities, length);
  });
}

}  // namespace sextant::gpu
