// A warning where the GPUs are older than the attention kernels with which a framework trains.
#pragma once

#include <string>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"

namespace sextant::inline ask {

// A sentence if a device type of the cluster has a compute capability below that of FlashAttention 2, and the profile
// trains with fused attention or packed sequences.
[[nodiscard]] std::string attention_of_old_gpus(const Cluster& cluster, const FrameworkProfile& profile);

}  // namespace sextant::inline ask
