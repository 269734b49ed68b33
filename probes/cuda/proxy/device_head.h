// The head of a model on one GPU: a norm and its part of the vocabulary head over rows of tokens.
//
// Logits are computed for kHeadRows rows at a time, in bf16 (for sampling: all rows, in fp32), so that a large
// micro-batch needs no more memory than a small one. A row's logits are distributed over the tensor-parallel
// group, which gathers a few numbers per row (kernels.h) and not the logits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "probes/cuda/proxy/gpu.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/proxy/device_sizes.h"
#include "probes/proxy/model/parameters.h"

namespace sextant::gpu {

// Gathers one number per row from every rank of a group.
template <typename Part>
class GatheredParts {
 public:
  // `tensor`: null on one rank, which has no others to gather from.
  GatheredParts(GpuCollectives* tensor, int rows)
      : tensor_(tensor),
        mine_(tensor == nullptr ? 0 : static_cast<std::size_t>(rows)),
        all_(tensor == nullptr ? 0 : mine_.size() * static_cast<std::size_t>(tensor->size())) {}
  [[nodiscard]] bool is_needed() const { return tensor_ != nullptr; }
  [[nodiscard]] int ranks() const { return tensor_->size(); }
  [[nodiscard]] Part* mine() const { return mine_.data(); }
  // [ranks, rows].
  const Part* gather(int rows, cudaStream_t stream) const {
    tensor_->all_gather(mine_.data(), static_cast<std::size_t>(rows) * sizeof(Part), all_.data(), stream);
    return all_.data();
  }

 private:
  GpuCollectives* tensor_;
  DeviceArray<Part> mine_;
  DeviceArray<Part> all_;
};

class DeviceHead {
 public:
  // Handles log-probabilities or losses of at most `rows` rows. `tensor`: null on one rank.
  DeviceHead(ProxyGpu& gpu, const proxy::StageShape& shape, GpuCollectives* tensor, int rows,
             proxy::Purpose purpose);

  // Sets result[i] to the log-probability of targets[i]; 0 without a target. Device arrays of x.rows, the same
  // on all ranks of the group.
  void log_probabilities(DeviceMatrix weights, DeviceMatrix x, const int* targets, float* result);
  // Adds the loss of the rows (sum of -factors[i] log p) to *loss and the gradient of the weights to
  // `gradients`; dx is overwritten with the gradient by x.
  void loss_and_gradients(DeviceMatrix weights, DeviceMatrix gradients, DeviceMatrix x, const int* targets,
                          const float* factors, double* loss, DeviceMatrix dx);

 private:
  [[nodiscard]] DeviceMatrix norm(DeviceMatrix x);
  [[nodiscard]] GatheredRows gather(DeviceMatrix logits, const int* targets);
  // Calls action(first row, rows of the norm, their logits).
  template <typename Action>
  void for_chunks(DeviceMatrix weights, DeviceMatrix normed, Action action);

  ProxyGpu& gpu_;
  GpuCollectives* tensor_;
  VocabularyPart part_;
  DeviceArray<Bf16> normed_;
  DeviceArray<float> reciprocal_;
  DeviceArray<Bf16> d_normed_;
  DeviceArray<Bf16> logits_;
  GatheredParts<RowPart> parts_;
};

// Samples the next tokens of at most `rows` sequences, by kernels.h's sample; equal on all ranks of the group.
class DeviceSampler {
 public:
  DeviceSampler(ProxyGpu& gpu, const proxy::StageShape& shape, GpuCollectives* tensor, int rows);
  // keys: null for the most likely token, else device keys of the noise, one per row.
  void sample(DeviceMatrix weights, DeviceMatrix x, const std::uint64_t* keys, DecodeRows rows,
              SampledTokens sampled);

 private:
  ProxyGpu& gpu_;
  VocabularyPart part_;
  DeviceArray<Bf16> normed_;
  DeviceArray<float> logits_;
  GatheredParts<BestToken> best_;
};

}  // namespace sextant::gpu
