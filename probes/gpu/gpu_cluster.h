// A Cluster whose devices are GPUs: those of this host, or one for each rank of a job.
#pragma once

#include "probes/campaign/findings.h"
#include "probes/gpu/gpu_link_report.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant::inline probes {

struct GpuClusterProbe {
  ClusterProbe probe;
  GpuProbe gpus;  // this rank's
  LinkReport links;
};

// Returns one node per host with a device per GPU, rates and measurements by type, links from NCCL if every
// pair was measured, else from peer copies if these have every pair, else from the first source with a pair of
// each level; warnings say what is missing. Throws Error(machine) if a GPU lacks a required value, or a level
// has no pair.
[[nodiscard]] GpuClusterProbe assemble_gpu_cluster(GpuRanks job, const GpuClusterOptions& options);

}  // namespace sextant::inline probes
