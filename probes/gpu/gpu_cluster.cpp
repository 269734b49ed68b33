#include "probes/gpu/gpu_cluster.h"

#include <algorithm>
#include <set>
#include <utility>

#include "probes/assembly/cluster_assembly.h"
#include "probes/campaign/findings.h"
#include "probes/collective/growing_groups.h"
#include "probes/topology/gpu_place.h"
#include "sextant/error.h"

namespace sextant {
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

KindOfPair kinds_of(const std::vector<RankReport>& reports) {
  return [&reports](int low, int high) {
    const auto& a = reports[static_cast<std::size_t>(low)].place;
    const auto& b = reports[static_cast<std::size_t>(high)].place;
    return a && b ? link_class(*a, *b).name() : std::string();
  };
}

AssembledCluster assemble(const std::vector<RankReport>& reports, const ProbeOptions& options,
                          bool is_partial) {
  return assemble_cluster({options.name, options.hosts, is_partial}, reports, best_way(reports, is_partial),
                          kinds_of(reports));
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

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<ProbeResult> results_of(const std::vector<RankReport>& reports) {
  std::vector<ProbeResult> results;
  for (const RankReport& report : reports) {
    results.insert(results.end(), report.results.begin(), report.results.end());
  }
  return results;
}

// All that a rank other than 0 knows where one was lost.
ClusterProbe lost_only(const GpuRanks& ranks) {
  ClusterProbe probe;
  probe.lost = ranks.lost;
  return probe;
}

}  // namespace

GpuClusterProbe assemble_gpu_cluster(GpuRanks ranks, const GpuClusterOptions& options) {
  if (!ranks.lost.empty() && ranks.reports.empty()) return {lost_only(ranks), std::move(ranks.gpus), {}};
  if (ranks.reports.empty()) throw_machine_failed("there is no GPU to measure: " + ranks.gpus.sentence);
  GpuClusterProbe out;
  out.probe.is_interrupted = ranks.is_interrupted;
  out.probe.lost = ranks.lost;
  out.probe.results = results_of(ranks.reports);
  if (!ranks.lost.empty()) ranks.reports = renumbered_without_lost(std::move(ranks.reports));
  out.links = report_links(ranks.reports, options.facts);
  AssembledCluster assembled;
  try {
    assembled = assemble(ranks.reports, options.cluster, !out.probe.is_whole());
    add_measurements(assembled.cluster, ranks.reports, out.links);
    out.probe.cluster = std::move(assembled.cluster);
    out.probe.device_of_rank = std::move(assembled.device_of_rank);
  } catch (const Error& error) {
    if (out.probe.is_whole()) throw;
    out.probe.why_no_cluster = error.what();
  }
  for (const auto& [rank, why] : ranks.lost)
    out.probe.warnings.push_back(why + ": measurements continued without it.");
  ranks.gpus.results = out.probe.results;  // of all ranks
  add(out.probe.warnings, warnings_of(ranks.gpus));
  add(out.probe.warnings, ranks.warnings);
  warn_of_time(ranks.reports, out.probe.warnings);
  add(out.probe.warnings, assembled.warnings);
  add(out.probe.warnings, warnings_of(out.links));
  out.gpus = std::move(ranks.gpus);
  return out;
}

}  // namespace sextant
