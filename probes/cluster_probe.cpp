#include "probes/cluster_probe.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/json_value.h"
#include "core/progress.h"
#include "core/units.h"
#include "probes/cluster_assembly.h"
#include "probes/harness/environment.h"
#include "probes/harness/pinning.h"
#include "probes/harness/probe_context.h"
#include "probes/host/gemm_probe.h"
#include "probes/host/memory_probe.h"
#include "probes/link/link_probe.h"
#include "probes/rank_report.h"

namespace sextant {
namespace {

// Half of what the host has is left to everything else.
constexpr double kMemoryShare = 0.5;

// Where this rank stands among those of its host.
struct HostPlace {
  std::string host;
  int nth_rank = 0;
  int ranks = 0;
  int usable_cpus = 0;  // different CPUs that the host's ranks may use together
};

HostPlace find_place(Communicator& world) {
  const std::vector<std::string> hosts = world.hosts();
  const std::vector<std::string> cpus_of_rank = exchange_texts(world, Json(allowed_cpus()).dump());
  HostPlace place;
  place.host = hosts[static_cast<std::size_t>(world.rank())];
  std::set<int> cpus;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (hosts[static_cast<std::size_t>(rank)] != place.host) continue;
    if (rank < world.rank()) ++place.nth_rank;
    ++place.ranks;
    for (const int cpu : parse_json(cpus_of_rank[static_cast<std::size_t>(rank)]).get<std::vector<int>>()) {
      cpus.insert(cpu);
    }
  }
  place.usable_cpus = static_cast<int>(cpus.size());
  return place;
}

Agreement agreement_of(Communicator& world) {
  if (world.size() == 1) return [](bool mine) { return mine; };
  return [&world](bool mine) {
    double disagrees = mine ? 0 : 1;
    world.all_reduce_max(std::span(&disagrees, 1));
    return disagrees == 0;
  };
}

void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

ProbeResult capacity_result(double memory_bytes, int ranks) {
  if (memory_bytes <= 0) {
    return waived_result("memory/capacity", "bytes", "the kernel does not say how much memory is available");
  }
  ProbeResult result;
  result.name = "memory/capacity";
  result.outcome = ProbeOutcome::measured;
  result.sentence = "available memory of the host divided by its " + std::to_string(ranks) +
                    (ranks == 1 ? " rank" : " ranks");
  result.value = memory_bytes;
  result.unit = "bytes";
  return result;
}

std::vector<ProbeResult> measure_device(const EnvironmentFacts& facts, int ranks, const ProbeOptions& options,
                                        const ProbeContext& context, Progress* progress) {
  const auto step = [&](const char* what) {
    if (progress != nullptr) progress->step(what);
  };
  std::vector<ProbeResult> results;
  for (const Precision precision : {Precision::fp32, Precision::fp64, Precision::bf16, Precision::fp16}) {
    step("matrix products");
    append(results, measure_peak_gemm(precision, context));
  }
  if (options.model) {
    step("matrix products of the model");
    const ProbeResult* peak = peak_gemm(results, Precision::fp32);
    append(results, measure_model_gemm(*options.model, options.model_tokens, options.model_tensor_parallel,
                                       peak != nullptr ? peak->value : 1.0, context));
  }
  step("memory bandwidth");
  append(results, measure_memory(choose_memory_sizes(facts, ranks, context.memory_limit_bytes), context));
  return results;
}

// What is said of each pair besides its points.
void append_link_fits(const std::vector<LinkMeasurement>& links, std::vector<ProbeResult>& results) {
  for (const LinkMeasurement& link : links) {
    if (!link.fit) continue;
    ProbeResult latency;
    latency.outcome = ProbeOutcome::measured;
    latency.sentence = link.sentence;
    latency.rank = link.pair.low;
    latency.peer = link.pair.high;
    ProbeResult bandwidth = latency;
    const AlphaBeta& fit = *link.fit;
    latency.name = "link/latency";
    latency.unit = "s";
    latency.value = fit.latency_s;
    latency.spread_fraction = fit.latency_spread_fraction;
    bandwidth.name = "link/bandwidth";
    bandwidth.unit = "bytes/s";
    bandwidth.value = fit.bytes_per_s;
    bandwidth.spread_fraction = fit.bytes_per_s_spread_fraction;
    results.push_back(latency);
    results.push_back(bandwidth);
  }
}

void warn_of_results(const std::vector<ProbeResult>& results, std::vector<std::string>& warnings) {
  const ProbeResult* noisiest = nullptr;
  int noisy = 0;
  for (const ProbeResult& result : results) {
    if (result.outcome == ProbeOutcome::failed) {
      warnings.push_back(result.name + " of rank " + std::to_string(result.rank) +
                         " failed: " + result.sentence + ".");
    }
    if (result.outcome != ProbeOutcome::noisy) continue;
    ++noisy;
    if (noisiest == nullptr || result.spread_fraction > noisiest->spread_fraction) noisiest = &result;
  }
  if (noisiest == nullptr) return;
  warnings.push_back(std::to_string(noisy) + " of " + std::to_string(results.size()) +
                     " points are less well known than asked, worst " + noisiest->name + " of rank " +
                     std::to_string(noisiest->rank) + " (" + format_percent(noisiest->spread_fraction) +
                     "): their values are medians of what the time allowed. Raise the budget of a point, or "
                     "look for other programs.");
}

std::vector<std::string> sentences(const std::string& host, const std::vector<EnvironmentWarning>& warnings) {
  std::vector<std::string> texts;
  texts.reserve(warnings.size());
  for (const EnvironmentWarning& warning : warnings) texts.push_back(host + ": " + warning.sentence());
  return texts;
}

RankReport measure_rank(Communicator& world, const ProbeOptions& options, Progress* progress) {
  const SystemFiles files;
  const EnvironmentFacts facts = read_environment(files);
  const HostPlace place = find_place(world);
  std::optional<Pinned> pinned;
  if (options.pin) pinned.emplace(place.nth_rank);

  RankReport report;
  report.rank = world.rank();
  report.host = place.host;
  report.cpu_model = facts.cpu_model;
  report.gemm_library = gemm_library();
  report.settings = network_settings();
  if (pinned) report.cpu = pinned->cpu();
  report.memory_bytes = facts.memory_available_bytes / place.ranks;

  ProbeContext context;
  context.sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  context.agreement = agreement_of(world);
  context.memory_limit_bytes = kMemoryShare * report.memory_bytes;
  world.barrier();
  report.results = measure_device(facts, place.ranks, options, context, progress);
  report.results.push_back(capacity_result(report.memory_bytes, place.ranks));
  for (ProbeResult& result : report.results) result.rank = world.rank();

  if (progress != nullptr) progress->step("links");
  for (LinkMeasurement& link : measure_links(world, context, default_message_bytes())) {
    append(report.results, std::move(link.points));
  }
  if (place.nth_rank == 0) {  // once a host
    report.warnings = sentences(place.host, judge_environment(facts, place.ranks, place.usable_cpus));
    const auto kernels = sentences(place.host, judge_gemm_library(facts, report.gemm_library));
    report.warnings.insert(report.warnings.end(), kernels.begin(), kernels.end());
    const auto changes = sentences(place.host, judge_change(facts, read_environment(files)));
    report.warnings.insert(report.warnings.end(), changes.begin(), changes.end());
  }
  return report;
}

}  // namespace

ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options) {
  if (options.model) {  // complain before anything is measured
    static_cast<void>(gemm_shapes_of(*options.model, options.model_tokens, options.model_tensor_parallel));
  }
  std::optional<Progress> progress;
  if (world.rank() == 0) progress.emplace("probing", 0);
  const RankReport mine = measure_rank(world, options, progress ? &*progress : nullptr);
  progress.reset();

  const std::vector<RankReport> reports = exchange_reports(world, mine);
  ClusterProbe probe;
  for (const RankReport& report : reports) {
    probe.warnings.insert(probe.warnings.end(), report.warnings.begin(), report.warnings.end());
    probe.results.insert(probe.results.end(), report.results.begin(), report.results.end());
  }
  if (world.rank() == 0 && options.on_results) options.on_results(probe.results);
  AssembledCluster assembled = assemble_cluster({options.name, options.region, options.zone}, reports);
  if (world.size() == 1) {
    probe.results.push_back(waived_links());
  } else {
    append_link_fits(links_of(reports), probe.results);
  }
  probe.warnings.insert(probe.warnings.end(), assembled.warnings.begin(), assembled.warnings.end());
  warn_of_results(probe.results, probe.warnings);
  probe.cluster = std::move(assembled.cluster);
  probe.device_of_rank = std::move(assembled.device_of_rank);
  return probe;
}

Json samples_to_json(const ClusterProbe& probe) {
  return {{"results", to_json(probe.results)}, {"warnings", probe.warnings}};
}

}  // namespace sextant
