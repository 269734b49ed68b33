// Which GPU a rank computes on: its own where it is shown one, else the ranks of a host take its GPUs in order.
#pragma once

#include <string>

#include "probes/comm/communicator.h"

namespace sextant::gpu {

struct GpuChoice {
  int device = 0;      // as CUDA numbers it; becomes the current one of this thread
  std::string reason;  // why this rank, or another one, has none: the same on all; empty when all have
};

// Collective.
[[nodiscard]] GpuChoice choose_gpu(Communicator& world);

}  // namespace sextant::gpu
