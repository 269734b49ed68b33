// Square matrix products with cuBLAS.
#pragma once

#include "probes/cuda/gpu_devices.h"

namespace sextant {

[[nodiscard]] GpuOperationOrReason make_cuda_gemm(int device, Precision precision, int size);

// "13.0.2"; empty when cuBLAS cannot be loaded.
[[nodiscard]] std::string cublas_version();

}  // namespace sextant
