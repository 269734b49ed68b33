// A Cluster whose devices are this host's GPUs.
#pragma once

#include <string>

#include "probes/cluster_probe.h"
#include "probes/cuda/gpu_probe.h"

namespace sextant {

// From what probe_gpus found: one node with a device for each GPU, rates and measurements by type, links
// between the GPUs from the points with a peer. host: its name and memory (0: unknown); the cluster's name,
// region and zone are those of `options`. Throws Error(machine) when a GPU lacks what a cluster cannot do
// without, or there is none.
[[nodiscard]] ClusterProbe cluster_of_gpus(const GpuProbe& probe, const std::string& host,
                                           double host_memory_bytes, const ProbeOptions& options);

}  // namespace sextant
