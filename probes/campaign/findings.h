// The measurements of a probe of ranks, and the conclusions from them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/ranks/cluster_probe.h"

namespace sextant {

struct ClusterFindings {
  std::vector<RankReport> reports;  // by rank, each with the links that it led; empty for ranks lost before
  std::vector<ProbeResult> collectives;
  std::map<int, std::string> lost;  // rank and reason
  bool is_interrupted = false;

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
  [[nodiscard]] std::vector<ProbeResult> results() const;
  // Adds links to the reports of the ranks that led them.
  void add_links(const std::vector<ProbeResult>& points);
};

// Drops the ranks without a report and renumbers the rest from 0, with the measurements among
// themselves.
[[nodiscard]] std::vector<RankReport> renumbered_without_lost(std::vector<RankReport> reports);

// Returns the results, warnings, and a cluster of the ranks that have reports. An incomplete probe may have no
// cluster; throws as assemble_cluster does if a complete one has none.
[[nodiscard]] ClusterProbe conclude(const ClusterFindings& found, const ProbeOptions& options);

}  // namespace sextant
