// NCCL between one GPU of each rank: all GPUs of a job, or the first of each host; or those of one host, whose ranks
// are threads of a process.
#pragma once

#include <string>
#include <vector>

#include "probes/gpu/gpu_ranks.h"

namespace sextant::inline probes {

struct NcclMembers {
  int gpu = 0;                     // this rank's, CUDA's number in this process
  std::vector<int> numbers;        // of the GPUs in the job, by rank, ascending
  std::vector<std::string> hosts;  // by rank
  KindOfPair kind_of_pair = {};    // classifies the links of a host; may be empty
  NcclPart part = NcclPart::all;
  bool shows_points = true;  // false for all but one of the threads of a process
};

// Collective. Measures the pairs and collectives that an earlier probe has not, and adds the results, by the
// numbers of GPUs: those of all ranks to the findings, those that this rank led to its own.
void measure_nccl_of_job(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options,
                         const ProbeHooks& hooks, const NcclMembers& members, GpuRanks& job);

}  // namespace sextant::inline probes
