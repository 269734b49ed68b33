// GPUs as the proxy's devices: one per rank, bf16 with fp32 sums, a KV cache in device memory, CUDA graphs for
// decode steps if the plan has them.
//
// Two implementations, chosen by CMake: CUDA (probes/cuda/proxy), and none.
#pragma once

#include <memory>
#include <string>

#include "probes/comm/communicator.h"
#include "probes/proxy/engine.h"

namespace sextant::inline probes {

struct GpuEngineOrReason {
  std::unique_ptr<proxy::TaskEngine> engine;
  std::string reason;  // why there is none: "built without CUDA", the driver's error, fewer GPUs than ranks
};

// Collective over `world`, which outlives the engine; every rank gets an engine or none does. The ranks of a
// host take its GPUs in order.
[[nodiscard]] GpuEngineOrReason make_gpu_engine(Communicator& world);

}  // namespace sextant::inline probes
