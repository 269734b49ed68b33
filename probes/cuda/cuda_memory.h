// Copy and read of device memory.
#pragma once

#include "probes/cuda/gpu_devices.h"

namespace sextant {

[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_copy(int device, std::size_t bytes);
[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_read(int device, std::size_t bytes);

}  // namespace sextant
