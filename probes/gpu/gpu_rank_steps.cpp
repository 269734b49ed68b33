#include "probes/gpu/gpu_rank_steps.h"

#include <utility>

#include "probes/harness/environment.h"
#include "probes/harness/network_settings.h"
#include "probes/topology/gpu_place.h"

namespace sextant::inline probes {

std::vector<std::string> bus_ids(const std::vector<GpuFacts>& gpus) {
  std::vector<std::string> ids;
  ids.reserve(gpus.size());
  for (const GpuFacts& gpu : gpus) ids.push_back(gpu.bus_id);
  return ids;
}

GpuPlace place_of(const GpuTools& tools, const GpuFacts& gpu, const std::string& host,
                  const std::vector<std::string>& of_host) {
  return read_gpu_place(tools.files, tools.fabric, host, gpu.bus_id, gpu.compute_capability, of_host);
}

KindOfPair kinds_of(std::vector<GpuPlace> places) {
  return [places = std::move(places)](int low, int high) {
    return link_class(places[static_cast<std::size_t>(low)], places[static_cast<std::size_t>(high)]).name();
  };
}

KindOfPair kinds_of(const std::vector<RankReport>& reports) {
  std::vector<GpuPlace> places;
  places.reserve(reports.size());
  for (const RankReport& report : reports) places.push_back(report.place.value_or(GpuPlace{}));
  return kinds_of(std::move(places));
}

RankReport report_of(const GpuProbe& probe, const GpuFacts& gpu, const GpuPlace& place, const GpuTools& tools) {
  RankReport report;
  report.rank = gpu.index;
  report.host = place.host;
  report.cpu_model = std::string("-");  // GCC 12 warns of the plain literal
  report.gpu_model = gpu.name;
  report.gemm_library = probe.versions;
  report.memory_bytes = gpu.memory_bytes;
  report.host_memory_bytes = read_environment(tools.files).memory_available_bytes;
  report.settings = network_settings();
  report.place = place;
  for (const ProbeResult& result : probe.results) {
    if (result.rank == gpu.index) report.results.push_back(result);
  }
  return report;
}

GpuProbeOptions with_steps(GpuProbeOptions options, const ProbeHooks& hooks) {
  options.on_point = [before = options.on_point, &hooks](const std::string& name) {
    hooks.step("GPUs: " + name);
    if (before) before(name);
  };
  return options;
}

// A point that has not begun within the budget is waived, so in that time a rank says something; pairs of
// NCCL within a host may come at once.
LivenessBarrier::Limits gpu_limits(const GpuClusterOptions& options, int gpus) {
  constexpr double kMore_s = 120;
  const double budget_s = std::max(options.gpus.total_budget_s, options.nccl.total_budget_s);
  const double silence_s = options.silence_s.value_or(options.cluster.answer_limit_s + 2 * budget_s);
  return {silence_s, (2.0 * gpus + 4) * budget_s + 2 * silence_s + kMore_s};
}

void hand_over(const std::vector<ProbeResult>& points, const ProbeHooks& hooks) {
  std::vector<ProbeResult> of_nccl, others;
  for (const ProbeResult& point : points) (point.name.starts_with("nccl") ? of_nccl : others).push_back(point);
  if (!of_nccl.empty() && hooks.on_links) hooks.on_links(of_nccl);
  if (!others.empty() && hooks.on_points) hooks.on_points(others);
}

std::vector<ProbeResult> renumbered(std::vector<ProbeResult> results, const std::function<int(int)>& number) {
  for (ProbeResult& result : results) {
    result.rank = number(result.rank);
    if (result.peer >= 0) result.peer = number(result.peer);
  }
  return results;
}

std::vector<ProbeResult> numbered_from(const std::vector<ProbeResult>& results, int first, int count) {
  const auto is_one = [&](int rank) { return rank >= first && rank < first + count; };
  std::vector<ProbeResult> own;
  for (const ProbeResult& result : results) {
    if (is_one(result.rank) && (result.peer < 0 || is_one(result.peer))) own.push_back(result);
  }
  return renumbered(std::move(own), [first](int rank) { return rank - first; });
}

CollectiveOptions with_common_steps(CollectiveOptions options, const ProbeHooks& hooks) {
  options.on_point = [before = options.on_point, &hooks](const std::string& name) {
    hooks.common_step(name);
    if (before) before(name);
  };
  return options;
}

}  // namespace sextant::inline probes
