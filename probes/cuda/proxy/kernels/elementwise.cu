#include "probes/cuda/proxy/kernels/device_math.cuh"
#include "probes/cuda/proxy/kernels/kernels.h"

namespace sextant::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 8192;       // of grid-stride loops
constexpr float kNormEpsilon = 1e-6F;  // as probes/proxy/model/kernels.h

int blocks_for(std::size_t items) {
  const std::size_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

// Whole warps, enough for the packs of a row.
int row_threads(int width) {
  const int packs = width / 8;
  const int threads = (packs + 31) / 32 * 32;
  return threads < kThreads ? threads : kThreads;
}

__global__ void rms_norm_kernel(const Bf16* x, int width, Bf16* out, float* reciprocal) {
  const std::size_t row = blockIdx.x;
  const Bf16* in = x + row * width;
  float sum = 0;
  for (int at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
    float values[8];
    load8(in + at, values);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += values[i] * values[i];
  }
  const float factor = rsqrtf(block_sum(sum) / width + kNormEpsilon);
  if (threadIdx.x == 0 && reciprocal != nullptr) reciprocal[row] = factor;
  for (int at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
    float values[8];
    load8(in + at, values);
#pragma unroll
    for (int i = 0; i < 8; ++i) values[i] *= factor;
    store8(out + row * width + at, values);
  }
}

__global__ void rms_norm_backward_kernel(const Bf16* d_out, const Bf16* normed, const float* reciprocal,
                                         int width, Bf16* dx) {
  const std::size_t row = blockIdx.x;
  const Bf16* gradient = d_out + row * width;
  const Bf16* unit = normed + row * width;
  float sum = 0;
  for (int at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
    float g[8], u[8];
    load8(gradient + at, g);
    load8(unit + at, u);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += g[i] * u[i];
  }
  const float along = block_sum(sum) / width;
  const float factor = reciprocal[row];
  for (int at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
    float g[8], u[8], x[8];
    load8(gradient + at, g);
    load8(unit + at, u);
    load8(dx + row * width + at, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += factor * (g[i] - u[i] * along);
    store8(dx + row * width + at, x);
  }
}

__device__ float sigmoid(float x) { return 1.0F / (1.0F + __expf(-x)); }

__global__ void silu_kernel(const Bf16* gate_up, std::size_t packs, int width, Bf16* out) {
  const int packs_a_row = width / 8;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t at = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; at < packs;
       at += step) {
    const std::size_t row = at / packs_a_row;
    const std::size_t column = (at - row * packs_a_row) * 8;
    const Bf16* in = gate_up + row * 2 * width + column;
    float gate[8], up[8];
    load8(in, gate);
    load8(in + width, up);
#pragma unroll
    for (int i = 0; i < 8; ++i) gate[i] *= sigmoid(gate[i]) * up[i];
    store8(out + row * width + column, gate);
  }
}

__global__ void silu_backward_kernel(const Bf16* gate_up, const Bf16* d_out, std::size_t packs, int width,
                                     Bf16* d_gate_up) {
  const int packs_a_row = width / 8;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t at = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; at < packs;
       at += step) {
    const std::size_t row = at / packs_a_row;
    const std::size_t column = (at - row * packs_a_row) * 8;
    const Bf16* in = gate_up + row * 2 * width + column;
    float gate[8], up[8], gradient[8];
    load8(in, gate);
    load8(in + width, up);
    load8(d_out + row * width + column, gradient);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float s = sigmoid(gate[i]);
      const float silu = gate[i] * s;
      gate[i] = gradient[i] * up[i] * (s + silu * (1.0F - s));
      up[i] = gradient[i] * silu;
    }
    Bf16* result = d_gate_up + row * 2 * width + column;
    store8(result, gate);
    store8(result + width, up);
  }
}

__global__ void embed_kernel(const Bf16* weights, VocabularyPart part, const int* tokens, const int* slots,
                             int width, Bf16* x) {
  const std::size_t row = blockIdx.x;
  const int token = tokens[slots == nullptr ? row : static_cast<std::size_t>(slots[row])] - part.first;
  auto* to = reinterpret_cast<uint4*>(x + row * width);
  if (token < 0 || token >= part.count) {
    for (int at = threadIdx.x; at < width / 8; at += blockDim.x) to[at] = make_uint4(0, 0, 0, 0);
    return;
  }
  const auto* from = reinterpret_cast<const uint4*>(weights + static_cast<std::size_t>(token) * width);
  for (int at = threadIdx.x; at < width / 8; at += blockDim.x) to[at] = from[at];
}

__global__ void embed_backward_kernel(VocabularyPart part, const int* tokens, const Bf16* dx, int width,
                                      Bf16* gradients) {
  const std::size_t row = blockIdx.x;
  const int token = tokens[row] - part.first;
  if (token < 0 || token >= part.count) return;
  const auto* from = reinterpret_cast<const __nv_bfloat162*>(dx + row * width);
  auto* to = reinterpret_cast<__nv_bfloat162*>(gradients + static_cast<std::size_t>(token) * width);
  for (int at = threadIdx.x; at < width / 2; at += blockDim.x) atomicAdd(to + at, from[at]);
}

__global__ void pick_rows_kernel(const Bf16* x, const int* rows_wanted, int width, Bf16* out) {
  const std::size_t row = blockIdx.x;
  const auto* from = reinterpret_cast<const uint4*>(x + static_cast<std::size_t>(rows_wanted[row]) * width);
  auto* to = reinterpret_cast<uint4*>(out + row * width);
  for (int at = threadIdx.x; at < width / 8; at += blockDim.x) to[at] = from[at];
}

}  // namespace

void rms_norm(const Bf16* x, int rows, int width, Bf16* out, float* reciprocal, cudaStream_t stream) {
  if (rows == 0) return;
  rms_norm_kernel<<<rows, row_threads(width), 0, stream>>>(x, width, out, reciprocal);
}

void rms_norm_backward(const Bf16* d_out, const Bf16* normed, const float* reciprocal, int rows, int width,
                       Bf16* dx, cudaStream_t stream) {
  if (rows == 0) return;
  rms_norm_backward_kernel<<<rows, row_threads(width), 0, stream>>>(d_out, normed, reciprocal, width, dx);
}

void silu_multiply(const Bf16* gate_up, std::size_t rows, int width, Bf16* out, cudaStream_t stream) {
  const std::size_t packs = rows * static_cast<std::size_t>(width / 8);
  if (packs == 0) return;
  silu_kernel<<<blocks_for(packs), kThreads, 0, stream>>>(gate_up, packs, width, out);
}

void silu_multiply_backward(const Bf16* gate_up, const Bf16* d_out, std::size_t rows, int width,
                            Bf16* d_gate_up, cudaStream_t stream) {
  const std::size_t packs = rows * static_cast<std::size_t>(width / 8);
  if (packs == 0) return;
  silu_backward_kernel<<<blocks_for(packs), kThreads, 0, stream>>>(gate_up, d_out, packs, width, d_gate_up);
}

void embed(const Bf16* weights, VocabularyPart part, const int* tokens, const int* slots, int rows, int width,
           Bf16* x, cudaStream_t stream) {
  if (rows == 0) return;
  embed_kernel<<<rows, row_threads(width), 0, stream>>>(weights, part, tokens, slots, width, x);
}

void embed_backward(VocabularyPart part, const int* tokens, const Bf16* dx, int rows, int width,
                    Bf16* gradients, cudaStream_t stream) {
  if (rows == 0) return;
  embed_backward_kernel<<<rows, row_threads(width), 0, stream>>>(part, tokens, dx, width, gradients);
}

void pick_rows(const Bf16* x, const int* rows_wanted, int rows, int width, Bf16* out, cudaStream_t stream) {
  if (rows == 0) return;
  pick_rows_kernel<<<rows, row_threads(width), 0, stream>>>(x, rows_wanted, width, out);
}

}  // namespace sextant::gpu
