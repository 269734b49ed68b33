// Copy, read, write and triad of device memory.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant {

// See GpuDevices::memory.
[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_memory(int device, GpuMemoryAccess access,
                                                             std::size_t bytes);

}  // namespace sextant
