// Copies from one GPU of this host to another.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant {

// See GpuDevices::peer_copy.
[[nodiscard]] GpuOperationOrReason make_cuda_peer_copy(int from, int to, const GpuPeerCopy& copy,
                                                       std::size_t bytes);

}  // namespace sextant
