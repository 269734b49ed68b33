#include "probes/campaign/findings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// Appends the fit of each pair to its measurements.
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
                     " measurements missed the target spread, worst " + noisiest->name + " of rank " +
                     std::to_string(noisiest->rank) + " (" + format_percent(noisiest->spread_fraction) +
                     "): their values are medians of the samples taken in the time limit. Raise --budget, or "
                     "look for other programs.");
}

bool is_rank_missing(const ClusterFindings& found) {
  return std::any_of(found.lost.begin(), found.lost.end(), [&](const auto& lost) {
    return std::none_of(found.reports.begin(), found.reports.end(),
                        [&](const RankReport& report) { return report.rank == lost.first; });
  });
}

}  // namespace

std::vector<RankReport> renumbered_without_lost(std::vector<RankReport> reports) {
  std::map<int, int> number;
  for (const RankReport& report : reports) number.try_emplace(report.rank, static_cast<int>(number.size()));
  for (RankReport& report : reports) {
    std::erase_if(report.results,
                  [&](const ProbeResult& result) { return result.peer >= 0 && !number.contains(result.peer); });
    for (ProbeResult& result : report.results) {
      result.rank = number.at(report.rank);
      if (result.peer >= 0) result.peer = number.at(result.peer);
    }
  }
  return reports;
}

void ClusterFindings::add_links(const std::vector<ProbeResult>& points) {
  for (const ProbeResult& point : points) {
    const auto leader = std::find_if(reports.begin(), reports.end(),
                                     [&](const RankReport& report) { return report.rank == point.rank; });
    if (leader != reports.end()) leader->results.push_back(point);
  }
}

std::vector<ProbeResult> ClusterFindings::results() const {
  std::vector<ProbeResult> all;
  for (const RankReport& report : reports) all.insert(all.end(), report.results.begin(), report.results.end());
  all.insert(all.end(), collectives.begin(), collectives.end());
  return all;
}

ClusterProbe conclude(const ClusterFindings& found, const ProbeOptions& options) {
  ClusterProbe probe;
  probe.lost = found.lost;
  probe.is_interrupted = found.is_interrupted;
  probe.results = found.results();
  for (const RankReport& report : found.reports) {
    probe.warnings.insert(probe.warnings.end(), report.warnings.begin(), report.warnings.end());
  }
  if (found.reports.size() == 1 && found.is_whole()) {
    probe.results.push_back(waived_links());
  } else {
    append_link_fits(links_of(found.reports), probe.results);
  }
  for (const auto& [rank, why] : found.lost)
    probe.warnings.push_back(why + ": measurements continued without it.");
  try {
    const ClusterPlace place{options.name, options.hosts, !probe.is_whole()};
    AssembledCluster assembled = assemble_cluster(
        place, is_rank_missing(found) ? renumbered_without_lost(found.reports) : found.reports);
    probe.warnings.insert(probe.warnings.end(), assembled.warnings.begin(), assembled.warnings.end());
    probe.cluster = std::move(assembled.cluster);
    probe.device_of_rank = std::move(assembled.device_of_rank);
  } catch (const Error& error) {
    if (probe.is_whole()) throw;
    probe.why_no_cluster = error.what();
  }
  warn_of_results(probe.results, probe.warnings);
  return probe;
}

}  // namespace sextant
