// Measures all GPUs of a host from one process: a single rank, or one of several hosts.
#pragma once

#include "probes/gpu/gpu_of_rank.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant::inline probes {

// The first method of measure_gpu_ranks.
[[nodiscard]] GpuRanks measure_this_host(Communicator& ranks, const GpuTools& tools,
                                         const GpuClusterOptions& options);
// The third method; collective.
[[nodiscard]] GpuRanks measure_own_host(Communicator& ranks, const GpuTools& tools,
                                        const GpuClusterOptions& options, const GpusOfRanks& shared);

}  // namespace sextant::inline probes
