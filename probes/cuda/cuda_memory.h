// Copy, read, write and triad of device memory.
#pragma once

#include "probes/cuda/gpu_devices.h"

namespace sextant {

// See GpuDevices::memory.
[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_memory(int device, GpuMemoryAccess access,
                                                             std::size_t bytes);

}  // namespace sextant
