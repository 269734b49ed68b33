#include "probes/cuda/gpu_cluster.h"

#include <utility>

#include "core/error.h"
#include "probes/cluster_assembly.h"

namespace sextant {
namespace {

RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const std::string& host,
                     double host_memory_bytes) {
  RankReport report;
  report.rank = gpu.index;
  report.host = host;
  report.gpu_model = gpu.name;
  report.gemm_library = probe.versions;
  report.memory_bytes = gpu.memory_bytes;
  report.host_memory_bytes = host_memory_bytes;
  for (const ProbeResult& result : probe.results) {
    if (result.rank == gpu.index) report.results.push_back(result);
  }
  return report;
}

}  // namespace

ClusterProbe cluster_of_gpus(const GpuProbe& probe, const std::string& host, double host_memory_bytes,
                             const ProbeOptions& options) {
  if (probe.devices.empty()) throw_machine_failed("there is no GPU to make a cluster of: " + probe.sentence);
  std::vector<RankReport> reports;
  for (const GpuFacts& gpu : probe.devices) reports.push_back(report_of(probe, gpu, host, host_memory_bytes));
  AssembledCluster assembled = assemble_cluster({options.name, options.region, options.zone}, reports);
  ClusterProbe out;
  out.cluster = std::move(assembled.cluster);
  out.device_of_rank = std::move(assembled.device_of_rank);
  out.results = probe.results;
  out.warnings = warnings_of(probe);
  out.warnings.insert(out.warnings.end(), assembled.warnings.begin(), assembled.warnings.end());
  return out;
}

}  // namespace sextant
