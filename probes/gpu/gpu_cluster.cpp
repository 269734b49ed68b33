#include "probes/gpu/gpu_cluster.h"

#include <algorithm>
#include <set>
#include <utility>

#include "probes/assembly/cluster_assembly.h"
#include "probes/collective/growing_groups.h"
#include "probes/gpu/gpu_rank_steps.h"
#include "probes/topology/gpu_place.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr const char* kNccl = "nccl/";
constexpr const char* kNcclPairs = "nccl/pair/";
constexpr const char* kLatePairs = "nccl/pair";  // how far they came, where that is not all

enum class Coverage { nothing, every_level, every_pair };

// Which links between these ranks the points of one way give.
Coverage coverage_of(const std::vector<RankReport>& reports, const std::string& prefix) {
  const auto is_within = [&](const RankPair& pair) {
    return reports[static_cast<std::size_t>(pair.low)].host ==
           reports[static_cast<std::size_t>(pair.high)].host;
  };
  std::set<bool> levels, levels_with_fit;
  std::size_t fits = 0;
  for (const LinkMeasurement& link : links_of(reports, prefix)) {
    if (!link.fit) continue;
    ++fits;
    levels_with_fit.insert(is_within(link.pair));
  }
  const int ranks = static_cast<int>(reports.size());
  for (int low = 0; low < ranks && levels.size() < 2; ++low) {
    for (int high = low + 1; high < ranks; ++high) levels.insert(is_within({low, high}));
  }
  if (fits == reports.size() * (reports.size() - 1) / 2) return Coverage::every_pair;
  return levels == levels_with_fit ? Coverage::every_level : Coverage::nothing;
}

// The sentence of the first link, or of NCCL, that has no value.
std::string why_no_links(const std::vector<RankReport>& reports) {
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      const bool is_link = result.name.starts_with("nccl") || result.name.starts_with(kLinkPrefix);
      if (is_link && !result.has_value()) return result.name + ": " + result.sentence;
    }
  }
  return "they were not";
}

// NCCL, because jobs get that, unless copies tell of more.
std::string best_way(const std::vector<RankReport>& reports, bool is_partial) {
  for (const Coverage enough : {Coverage::every_pair, Coverage::every_level}) {
    for (const char* prefix : {kNcclPairs, kLinkPrefix}) {
      if (coverage_of(reports, prefix) >= enough) return prefix;
    }
  }
  if (is_partial) {  // levels without a link are assumed
    const auto of_nccl = links_of(reports, kNcclPairs);
    const bool has_fit = std::any_of(of_nccl.begin(), of_nccl.end(),
                                     [](const LinkMeasurement& link) { return link.fit.has_value(); });
    return has_fit ? kNcclPairs : kLinkPrefix;
  }
  throw_machine_failed("the links between the GPUs could not be measured: " + why_no_links(reports));
}

// Why NCCL did not come to all pairs.
void warn_of_time(const std::vector<RankReport>& reports, std::vector<std::string>& warnings) {
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      if (result.peer >= 0 || result.name != kLatePairs) continue;
      warnings.push_back("NCCL between pairs: " + result.sentence + ". A larger --total-budget measures more.");
    }
  }
}

// Measurements of all GPUs together belong to every type. The results of links are in the report already.
void add_measurements(Cluster& cluster, const std::vector<RankReport>& reports, const LinkReport& links) {
  std::map<std::string, DeviceMeasurement> shared = measurements_of(links);
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      if (!result.name.starts_with(kNccl) || result.peer >= 0 || !result.has_value()) continue;
      if (!result.group.empty() && result.group != kAllRanks) continue;  // there are several of one name
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

}  // namespace

GpuClusterProbe assemble_gpu_cluster(GpuRanks job, const GpuClusterOptions& options) {
  Findings& found = job.found;
  if (!found.lost.empty() && found.reports.empty()) {
    return {probe_without_cluster(found), std::move(job.gpus), {}};
  }
  if (found.reports.empty()) throw_machine_failed("there is no GPU to measure: " + job.gpus.sentence);
  GpuClusterProbe out{probe_without_cluster(found), std::move(job.gpus), {}};
  const std::vector<RankReport> reports = found.reports_without_lost();
  out.links = report_links(reports, options.facts);
  std::vector<std::string> assembly_warnings = set_cluster(out.probe, [&] {
    const ClusterPlace place{options.cluster.name, options.cluster.hosts, !found.is_whole()};
    AssembledCluster assembled =
        assemble_cluster(place, reports, best_way(reports, place.is_partial), kinds_of(reports));
    add_measurements(assembled.cluster, reports, out.links);
    return assembled;
  });
  warn_of_lost(out.probe);
  out.gpus.results = out.probe.results;  // of all ranks
  append(out.probe.warnings, warnings_of(out.gpus));
  append(out.probe.warnings, std::move(found.warnings));
  warn_of_time(reports, out.probe.warnings);
  append(out.probe.warnings, std::move(assembly_warnings));
  append(out.probe.warnings, warnings_of(out.links));
  return out;
}

}  // namespace sextant::inline probes
