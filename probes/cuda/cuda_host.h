// Operations for which the host waits: launches of kernels and graphs, and copies between host and device.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant {

// See GpuDevices::launch and GpuDevices::transfer.
[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_launch(int device, GpuLaunch kind, int nodes);
[[nodiscard]] std::unique_ptr<GpuOperation> make_cuda_transfer(int device, const GpuTransfer& transfer,
                                                               std::size_t bytes);

}  // namespace sextant
