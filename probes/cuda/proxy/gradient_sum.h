// Sums gradients over the replicas of a training task.
#pragma once

#include <cstddef>

#include "probes/cuda/proxy/kernels.h"

namespace sextant::gpu {

class GradientSum {
 public:
  GradientSum() = default;
  virtual ~GradientSum() = default;
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;
  // Queued on the stream, in place, of device memory. Collective over the replicas.
  virtual void all_reduce(Bf16* gradients, std::size_t count, cudaStream_t stream) = 0;
};

}  // namespace sextant::gpu
