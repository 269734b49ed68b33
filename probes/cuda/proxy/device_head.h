// What follows the last layer on one GPU: a norm and the vocabulary head over rows of tokens.
//
// Logits are computed for kHeadRows rows at a time, in bf16 (sampling: all rows, in fp32), so that a large
// micro-batch needs no more memory than a small one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "probes/cuda/proxy/device_sizes.h"
#include "probes/cuda/proxy/gpu.h"
#include "probes/proxy/parameters.h"

namespace sextant::gpu {

class DeviceHead {
 public:
  // Of log-probabilities or losses over at most `rows` rows.
  DeviceHead(ProxyGpu& gpu, const Model& model, int rows, proxy::Purpose purpose);

  // result[i] of targets[i]; 0 where there is none. Device arrays of x.rows.
  void log_probabilities(DeviceMatrix weights, DeviceMatrix x, const int* targets, float* result);
  // Adds the loss of the rows (sum of -factors[i] log p) to *loss and the gradient of the weights to
  // `gradients`; dx is overwritten with the gradient by x.
  void loss_and_gradients(DeviceMatrix weights, DeviceMatrix gradients, DeviceMatrix x, const int* targets,
                          const float* factors, double* loss, DeviceMatrix dx);

 private:
  [[nodiscard]] DeviceMatrix norm(DeviceMatrix x);
  // Calls action(first row, rows of the norm, their logits).
  template <typename Action>
  void for_chunks(DeviceMatrix weights, DeviceMatrix normed, Action action);

  ProxyGpu& gpu_;
  int vocabulary_;
  DeviceArray<Bf16> normed_;
  DeviceArray<float> reciprocal_;
  DeviceArray<Bf16> d_normed_;
  DeviceArray<Bf16> logits_;
};

// The next tokens of at most `rows` sequences, by kernels.h's sample.
class DeviceSampler {
 public:
  DeviceSampler(ProxyGpu& gpu, const Model& model, int rows);
  // keys: null for the most likely token, else device keys of the noise, one a row.
  void sample(DeviceMatrix weights, DeviceMatrix x, const std::uint64_t* keys, DecodeRows rows,
              SampledTokens sampled);

 private:
  ProxyGpu& gpu_;
  int vocabulary_;
  DeviceArray<Bf16> normed_;
  DeviceArray<float> logits_;
};

}  // namespace sextant::gpu
