// Gradients summed over GPUs with NCCL, opened when it is first needed.
#pragma once

#include <memory>

#include "probes/comm/communicator.h"
#include "probes/cuda/proxy/gradient_sum.h"

namespace sextant::gpu {

// Collective over the replicas, each with its GPU current. Error(machine) when NCCL cannot be loaded or its
// ranks do not come together.
[[nodiscard]] std::unique_ptr<GradientSum> make_nccl_gradient_sum(Communicator& replicas);

}  // namespace sextant::gpu
