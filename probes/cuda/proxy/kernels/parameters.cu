#include "probes/cuda/proxy/kernels/device_math.cuh"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 16384;

__global__ void initialise_kernel(InitialRows rows, Bf16* weights, float* master) {
  const float range = 2 * sqrtf(3.0F) * rows.deviation;
  for (std::size_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    const unsigned long long seed = mix64(rows.block_seed + rows.first + row);
    for (int column = threadIdx.x; column < rows.width; column += blockDim.x) {
      const float value = (uniform_of(seed + column) - 0.5F) * range;
      const std::size_t at = row * rows.width + column;
      weights[at] = __float2bfloat16(value);
      if (master != nullptr) master[at] = value;
    }
  }
}

__global__ void adam_kernel(AdamNumbers s, const Bf16* gradients, float* first_moments, float* second_moments,
                            float* master, Bf16* weights, std::size_t packs) {
  const float rate = s.learning_rate / s.first_correction;
  const float second_scale = 1.0F / s.second_correction;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t pack = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; pack < packs;
       pack += step) {
    float g[8], w[8];
    load8(gradients + pack * 8, g);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::size_t at = pack * 8 + half * 4;
      float4 m4 = *reinterpret_cast<const float4*>(first_moments + at);
      float4 v4 = *reinterpret_cast<const float4*>(second_moments + at);
      float4 w4 = *reinterpret_cast<const float4*>(master + at);
      float* m = &m4.x;
      float* v = &v4.x;
      float* p = &w4.x;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float gradient = g[half * 4 + i];
        m[i] = s.first_decay * m[i] + (1.0F - s.first_decay) * gradient;
        v[i] = s.second_decay * v[i] + (1.0F - s.second_decay) * gradient * gradient;
        p[i] -= rate * m[i] / (sqrtf(v[i] * second_scale) + s.epsilon);
        w[half * 4 + i] = p[i];
      }
      *reinterpret_cast<float4*>(first_moments + at) = m4;
      *reinterpret_cast<float4*>(second_moments + at) = v4;
      *reinterpret_cast<float4*>(master + at) = w4;
    }
    store8(weights + pack * 8, w);
  }
}

}  // namespace

void initialise_rows(const InitialRows& rows, Bf16* weights, float* master, cudaStream_t stream) {
  if (rows.rows == 0) return;
  const int blocks = static_cast<int>(rows.rows < kMaxBlocks ? rows.rows : kMaxBlocks);
  initialise_kernel<<<blocks, kThreads, 0, stream>>>(rows, weights, master);
}

void adam_update(const AdamNumbers& step, const Bf16* gradients, float* first_moments, float* second_moments,
                 float* master, Bf16* weights, std::size_t count, cudaStream_t stream) {
  if (count == 0) return;
  const std::size_t packs = count / 8;
  const std::size_t blocks = (packs + kThreads - 1) / kThreads;
  adam_kernel<<<static_cast<int>(blocks < kMaxBlocks ? blocks : kMaxBlocks), kThreads, 0, stream>>>(
      step, gradients, first_moments, second_moments, master, weights, packs);
}

}  // namespace sextant::gpu
