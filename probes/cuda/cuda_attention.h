// Attention on one device: decode with a paged KV cache, and causal prefill.
#pragma once

#include "probes/gpu/gpu_devices.h"

namespace sextant {

// See GpuDevices::decode_attention and prefill_attention.
[[nodiscard]] GpuOperationOrReason make_cuda_decode(int device, const AttentionShape& shape);
[[nodiscard]] GpuOperationOrReason make_cuda_prefill(int device, const AttentionShape& shape);

}  // namespace sextant
