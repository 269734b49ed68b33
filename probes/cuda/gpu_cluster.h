// A Cluster whose devices are GPUs: those of this host, or one for each rank of a job.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "probes/cluster_probe.h"
#include "probes/cuda/gpu_link_report.h"
#include "probes/cuda/gpu_nccl.h"
#include "probes/cuda/gpu_probe.h"
#include "probes/topology/gpu_fabric.h"
#include "probes/topology/link_facts.h"

namespace sextant {

// What a GPU probe works with; tests bring their own.
struct GpuTools {
  GpuDevices& devices;
  GpuSensors& sensors;
  GpuFabric& fabric;
  MakeCollectives make_collectives;
  SystemFiles files;
  const Clock& clock = steady_clock();
};

struct GpuClusterOptions {
  ProbeOptions cluster;  // its name, region and zone
  GpuProbeOptions gpus;
  CollectiveOptions nccl;
  LinkFacts facts;
};

struct GpuClusterProbe {
  ClusterProbe probe;
  GpuProbe gpus;  // of this rank
  LinkReport links;
};

// What one rank found, and what every rank found.
struct GpuRanks {
  GpuProbe gpus;
  std::vector<RankReport> reports;  // of all GPUs of the job, by rank
};

// Collective. With one rank all GPUs of this host, one after another, and NCCL between them from threads; with
// several each rank the GPU of its number on its host, all at the same time. Throws Error(bad_input) when there
// are not as many GPUs as ranks on a host, Error(machine) when there is none.
[[nodiscard]] GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools,
                                         const GpuClusterOptions& options);

// One node for each host with a device for each GPU, rates and measurements by type, links from NCCL where
// every pair was measured, else from peer copies. Throws Error(machine) when a GPU lacks what a cluster cannot
// do without.
[[nodiscard]] GpuClusterProbe assemble_gpu_cluster(GpuRanks ranks, const GpuClusterOptions& options);

}  // namespace sextant
