// Makes the operations of GpuWork, each in the file cuda_*.cpp of its kind.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant::inline probes {

// Results are in the operands' precision, fp8's in bf16, sums in fp32.
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuGemm& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuMemory& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuDecode& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuPrefill& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuLaunches& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuTransfer& work);
[[nodiscard]] GpuOperationOrReason make_cuda_operation(int device, const GpuPeerCopy& work);

}  // namespace sextant::inline probes
