#include "probes/gpu/gpu_engine.h"
#include "probes/gpu/gpu_self_check.h"

namespace sextant::inline probes {

GpuEngineOrReason make_gpu_engine(Communicator&) { return {nullptr, "built without CUDA"}; }

GpuChecksOrReason check_gpu_proxy(Communicator&, int) { return {{}, "built without CUDA"}; }

}  // namespace sextant::inline probes
