// NVML's information on the links between GPUs.
#pragma once

#include <memory>
#include <string>

#include "probes/gpu/libraries/nvml_library.h"
#include "probes/topology/gpu_fabric.h"

namespace sextant::inline probes {

// `reason`: why there is no library, if it is null. The library outlives the fabric.
[[nodiscard]] std::unique_ptr<GpuFabric> make_nvml_fabric(const NvmlLibrary* nvml, const std::string& reason);

}  // namespace sextant::inline probes
