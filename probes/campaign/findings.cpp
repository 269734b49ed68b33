#include "probes/campaign/findings.h"

#include <algorithm>
#include <utility>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::inline probes {

std::vector<ProbeResult> Findings::results() const {
  std::vector<ProbeResult> all;
  for (const RankReport& report : reports) append(all, report.results);
  append(all, collectives);
  return all;
}

void Findings::add(const std::vector<ProbeResult>& results) {
  for (const ProbeResult& result : results) {
    const auto leader = std::find_if(reports.begin(), reports.end(),
                                     [&](const RankReport& report) { return report.rank == result.rank; });
    if (leader != reports.end()) leader->results.push_back(result);
  }
}

std::vector<RankReport> Findings::reports_without_lost() const {
  std::vector<RankReport> left = reports;
  if (lost.empty()) return left;
  std::map<int, int> number;
  for (const RankReport& report : left) number.try_emplace(report.rank, static_cast<int>(number.size()));
  for (RankReport& report : left) {
    std::erase_if(report.results,
                  [&](const ProbeResult& result) { return result.peer >= 0 && !number.contains(result.peer); });
    for (ProbeResult& result : report.results) {
      result.rank = number.at(report.rank);
      if (result.peer >= 0) result.peer = number.at(result.peer);
    }
  }
  return left;
}

ClusterProbe probe_without_cluster(const Findings& found) {
  ClusterProbe probe;
  probe.results = found.results();
  probe.lost = found.lost;
  probe.is_interrupted = found.is_interrupted;
  return probe;
}

std::vector<std::string> set_cluster(ClusterProbe& probe, const std::function<AssembledCluster()>& assemble) {
  try {
    AssembledCluster assembled = assemble();
    probe.cluster = std::move(assembled.cluster);
    probe.device_of_rank = std::move(assembled.device_of_rank);
    return std::move(assembled.warnings);
  } catch (const Error& error) {
    if (probe.is_whole()) throw;
    probe.why_no_cluster = error.what();
    return {};
  }
}

void warn_of_lost(ClusterProbe& probe) {
  for (const auto& [rank, why] : probe.lost) {
    probe.warnings.push_back(why + ": measurements continued without it.");
  }
}

Json samples_to_json(const ClusterProbe& probe) {
  return {{"results", to_json(probe.results)}, {"warnings", probe.warnings}};
}

}  // namespace sextant::inline probes
