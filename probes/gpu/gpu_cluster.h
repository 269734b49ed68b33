// A Cluster whose devices are GPUs: those of this host, or one for each rank of a job.
#pragma once

#include "probes/cluster_probe.h"
#include "probes/gpu/gpu_link_report.h"
#include "probes/gpu/gpu_ranks.h"

namespace sextant {

struct GpuClusterProbe {
  ClusterProbe probe;
  GpuProbe gpus;  // of this rank
  LinkReport links;
};

// One node for each host with a device for each GPU, rates and measurements by type, links from NCCL where
// every pair was measured, else from peer copies where these have every pair, else from whichever has a pair of
// each level; warnings say what is missing. Throws Error(machine) when a GPU lacks what a cluster cannot do
// without, or a level has no pair.
[[nodiscard]] GpuClusterProbe assemble_gpu_cluster(GpuRanks ranks, const GpuClusterOptions& options);

}  // namespace sextant
