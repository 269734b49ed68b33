// Fragments of mma.m16n8k16 for attention, without a transposition in memory.
//
// A lane is (g, t) = (lane / 4, lane % 4). The order of the summed index is free as long as both operands
// agree, and so is that of the output's columns, so every lane loads 16 bytes of a row at once:
//   scores  S[16 x 8 tokens] = Q K^T: of token g, dimensions 32 i + 8 t ... + 7; words 2 s and 2 s + 1 of these
//           feed step s of chunk i. Q's rows g and g + 8 are loaded likewise.
//   values  O[16 x 8 j] += P V: of tokens 2 t, 2 t + 1, 2 t + 8, 2 t + 9, dimensions 64 h + 8 g ... + 7;
//   product j of
//           half h takes dimension 64 h + 8 g + j of each, so its columns 2 t + e are dimensions
//           64 h + 8 (2 t + e) + j.
// Scores of two 8-token tiles, packed to bf16, are the first operand of the second product as they are.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "probes/cuda/attention_instructions.cuh"

namespace sextant::gpu {

__device__ inline std::uint32_t pack(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

__device__ inline std::uint32_t word_of(const uint4& words, int at) {
  return at == 0 ? words.x : at == 1 ? words.y : at == 2 ? words.z : words.w;
}

// Queries of rows g and g + 8, dimensions 32 i + 8 t ... + 7.
template <int kChunks>
struct QueryFragments {
  Fragment4 steps[2 * kChunks];
  __device__ void set(int chunk, const uint4& row, const uint4& row_plus_8) {
    steps[2 * chunk] = {{row.x, row_plus_8.x, row.y, row_plus_8.y}};
    steps[2 * chunk + 1] = {{row.z, row_plus_8.z, row.w, row_plus_8.w}};
  }
};

template <int kChunks>
__device__ inline void add_scores(float (&scores)[4], const QueryFragments<kChunks>& query,
                                  const uint4 (&keys)[kChunks]) {
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    multiply_add(scores, query.steps[2 * chunk], keys[chunk].x, keys[chunk].y);
    multiply_add(scores, query.steps[2 * chunk + 1], keys[chunk].z, keys[chunk].w);
  }
}

// values: those of tokens 2 t, 2 t + 1, 2 t + 8, 2 t + 9; output: the eight products of one half.
__device__ inline void add_values(float (&output)[8][4], const Fragment4& weights, const uint4 (&values)[4]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned selector = j % 2 == 0 ? 0x5410U : 0x7632U;  // low or high 16 bits of both
    const std::uint32_t b0 = __byte_perm(word_of(values[0], j / 2), word_of(values[1], j / 2), selector);
    const std::uint32_t b1 = __byte_perm(word_of(values[2], j / 2), word_of(values[3], j / 2), selector);
    multiply_add(output[j], weights, b0, b1);
  }
}

// The running maximum and sum of rows g and g + 8 (Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018), in units of log2.
struct RunningSoftmax {
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};  // for this lane's tokens only, until finish()

  // Turns scores into weights; returns the factors by which the output so far must be scaled.
  template <int kTiles>
  __device__ void update(float (&scores)[kTiles][4], float scale_log2, float (&rescale)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = maximum[half];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        now = fmaxf(now, scale_log2 * fmaxf(scores[tile][2 * half], scores[tile][2 * half + 1]));
      }
      now = fmaxf(now, __shfl_xor_sync(0xffffffffU, now, 1));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffU, now, 2));
      rescale[half] = exp2_fast(maximum[half] - now);
      maximum[half] = now;
      sum[half] *= rescale[half];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          scores[tile][e] = exp2_fast(fmaf(scale_log2, scores[tile][e], -now));
          sum[half] += scores[tile][e];
        }
      }
    }
  }

  // Adds up the sums of the four lanes of a row.
  __device__ void finish() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[half] += __shfl_xor_sync(0xffffffffU, sum[half], 1);
      sum[half] += __shfl_xor_sync(0xffffffffU, sum[half], 2);
    }
  }
};

__device__ inline Fragment4 weights_of(const float (&first)[4], const float (&second)[4]) {
  return {{pack(first[0], first[1]), pack(first[2], first[3]), pack(second[0], second[1]),
           pack(second[2], second[3])}};
}

template <int kHalves>
__device__ inline void scale_output(float (&output)[kHalves][8][4], const float (&rescale)[2]) {
  if (__all_sync(0xffffffffU, rescale[0] == 1.0F && rescale[1] == 1.0F)) return;
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      output[half][j][0] *= rescale[0];
      output[half][j][1] *= rescale[0];
      output[half][j][2] *= rescale[1];
      output[half][j][3] *= rescale[1];
    }
  }
}

// Dimension of element e (0 or 1) of the columns of product j of a half, for lane t.
__device__ inline int dimension_of(int half, int j, int t, int e) { return 64 * half + 8 * (2 * t + e) + j; }

}  // namespace sextant::gpu
