// Chooses the GPU of a rank: its own if it sees only one, else the ranks of a host take its GPUs in order.
#pragma once

#include <string>

#include "probes/comm/communicator.h"

namespace sextant::gpu {

struct GpuChoice {
  int device = 0;      // CUDA's number; becomes the current one of this thread
  std::string reason;  // why any rank has none: the same on all; empty if all have one
};

// Collective.
[[nodiscard]] GpuChoice choose_gpu(Communicator& world);

}  // namespace sextant::gpu
