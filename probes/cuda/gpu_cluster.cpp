#include "probes/cuda/gpu_cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "probes/cluster_assembly.h"
#include "probes/cuda/gpu_of_rank.h"
#include "probes/harness/environment.h"
#include "probes/harness/network_settings.h"

namespace sextant {
namespace {

constexpr const char* kNccl = "nccl/";
constexpr const char* kNcclPairs = "nccl/pair/";

std::vector<std::string> bus_ids(const std::vector<GpuFacts>& gpus) {
  std::vector<std::string> ids;
  ids.reserve(gpus.size());
  for (const GpuFacts& gpu : gpus) ids.push_back(gpu.bus_id);
  return ids;
}

RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const std::string& host, const GpuTools& tools,
                     const std::vector<std::string>& others) {
  RankReport report;
  report.rank = gpu.index;
  report.host = host;
  report.cpu_model = "-";
  report.gpu_model = gpu.name;
  report.gemm_library = probe.versions;
  report.memory_bytes = gpu.memory_bytes;
  report.host_memory_bytes = read_environment(tools.files).memory_available_bytes;
  report.settings = network_settings();
  report.place = read_gpu_place(tools.files, tools.fabric, host, gpu.bus_id, gpu.compute_capability, others);
  for (const ProbeResult& result : probe.results) {
    if (result.rank == gpu.index) report.results.push_back(result);
  }
  return report;
}

GpuRanks measure_this_host(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  GpuRanks found;
  found.gpus = probe_gpus(tools.devices, tools.sensors, options.gpus, tools.clock);
  if (found.gpus.devices.empty()) throw_machine_failed("there is no GPU: " + found.gpus.sentence);
  std::vector<int> indices;
  for (const GpuFacts& gpu : found.gpus.devices) indices.push_back(gpu.index);
  auto nccl = measure_nccl_in_threads(indices, tools.make_collectives, options.nccl, tools.clock);
  std::move(nccl.begin(), nccl.end(), std::back_inserter(found.gpus.results));
  for (const GpuFacts& gpu : found.gpus.devices) {
    found.reports.push_back(
        report_of(found.gpus, gpu, ranks.hosts().front(), tools, bus_ids(found.gpus.devices)));
  }
  return found;
}

GpuRanks measure_own_gpu(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  const GpusOfRanks shared = share_out_gpus(ranks, tools.devices);
  if (const std::string why = shared.why_not_whole(); !why.empty()) {
    const bool is_absent = std::any_of(shared.absences.begin(), shared.absences.end(),
                                       [](const std::string& absence) { return !absence.empty(); });
    if (is_absent) throw_machine_failed(why);
    throw_bad_input(why + ": start one rank for each GPU");
  }
  GpuClusterOptions own = options;
  own.gpus.only_gpu = shared.mine.index;
  GpuRanks found;
  found.gpus = probe_gpus(tools.devices, tools.sensors, own.gpus, tools.clock);
  for (GpuFacts& gpu : found.gpus.devices) gpu.index = ranks.rank();
  for (ProbeResult& result : found.gpus.results) result.rank = ranks.rank();
  ranks.wait_quietly();  // others may still be measuring
  auto nccl = measure_nccl(ranks, *own.gpus.only_gpu, tools.make_collectives, own.nccl, tools.clock);
  std::move(nccl.begin(), nccl.end(), std::back_inserter(found.gpus.results));
  const std::vector<std::string> hosts = ranks.hosts();
  const RankReport mine =
      report_of(found.gpus, found.gpus.devices.front(), hosts[static_cast<std::size_t>(ranks.rank())], tools,
                bus_ids(tools.devices.list()));
  found.reports = exchange_reports(ranks, mine);
  return found;
}

bool has_every_pair(const std::vector<RankReport>& reports, const std::string& prefix) {
  const std::vector<LinkMeasurement> links = links_of(reports, prefix);
  const std::size_t pairs = reports.size() * (reports.size() - 1) / 2;
  return links.size() == pairs && std::all_of(links.begin(), links.end(),
                                              [](const LinkMeasurement& link) { return link.fit.has_value(); });
}

// What is said of the first link, or of NCCL, that has no value.
std::string why_no_links(const std::vector<RankReport>& reports) {
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      const bool is_link = result.name.starts_with("nccl") || result.name.starts_with(kLinkPrefix);
      if (is_link && !result.has_value()) return result.name + ": " + result.sentence;
    }
  }
  return "they were not";
}

// What is about all GPUs together belongs to every type. The links' own results are in the report already.
void add_measurements(Cluster& cluster, const std::vector<RankReport>& reports, const LinkReport& links) {
  std::map<std::string, DeviceMeasurement> shared = measurements_of(links);
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      if (!result.name.starts_with(kNccl) || result.peer >= 0 || !result.has_value()) continue;
      shared[result.name] = {result.unit, measured(result.value, result.spread_fraction, result.how)};
    }
  }
  std::map<std::string, DeviceType> types = cluster.device_types();
  for (auto& [name, type] : types) {
    for (const auto& [what, measurement] : shared) type.measurements[what] = measurement;
  }
  Cluster whole(cluster.name(), std::move(types), cluster.nodes(), cluster.levels(), cluster.exceptions());
  whole.set_environment(cluster.environment());
  cluster = std::move(whole);
}

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

GpuRanks measure_gpu_ranks(Communicator& ranks, const GpuTools& tools, const GpuClusterOptions& options) {
  return ranks.size() == 1 ? measure_this_host(ranks, tools, options) : measure_own_gpu(ranks, tools, options);
}

GpuClusterProbe assemble_gpu_cluster(GpuRanks ranks, const GpuClusterOptions& options) {
  if (ranks.reports.empty())
    throw_machine_failed("there is no GPU to make a cluster of: " + ranks.gpus.sentence);
  const ProbeOptions& cluster = options.cluster;
  const std::string prefix = has_every_pair(ranks.reports, kNcclPairs) ? kNcclPairs : kLinkPrefix;
  if (!has_every_pair(ranks.reports, prefix)) {
    throw_machine_failed("the links between the GPUs could not be measured: " + why_no_links(ranks.reports));
  }
  AssembledCluster assembled = assemble_cluster({cluster.name, cluster.hosts}, ranks.reports, prefix);
  GpuClusterProbe out;
  out.links = report_links(ranks.reports, options.facts);
  add_measurements(assembled.cluster, ranks.reports, out.links);
  out.probe.cluster = std::move(assembled.cluster);
  out.probe.device_of_rank = std::move(assembled.device_of_rank);
  for (const RankReport& report : ranks.reports) {
    out.probe.results.insert(out.probe.results.end(), report.results.begin(), report.results.end());
  }
  ranks.gpus.results = out.probe.results;  // of all ranks
  add(out.probe.warnings, warnings_of(ranks.gpus));
  add(out.probe.warnings, assembled.warnings);
  add(out.probe.warnings, warnings_of(out.links));
  out.gpus = std::move(ranks.gpus);
  return out;
}

}  // namespace sextant
