// Matrix products with cuBLASLt, algorithms searched by timing.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant {

// See GpuDevices::gemm. Results are in the operands' precision, fp8's in bf16, sums in fp32.
[[nodiscard]] GpuOperationOrReason make_cuda_gemm(int device, Precision precision, const GemmShape& shape,
                                                  bool is_cold);

}  // namespace sextant
