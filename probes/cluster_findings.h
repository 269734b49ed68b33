// What a probe of ranks found, and what is made of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/cluster_probe.h"

namespace sextant {

struct ClusterFindings {
  std::vector<RankReport> reports;  // by rank, each with the links that it led; none of who was lost before
  std::vector<ProbeResult> collectives;
  std::map<int, std::string> lost;  // rank and why
  bool is_interrupted = false;

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
  [[nodiscard]] std::vector<ProbeResult> results() const;
  // To the reports of the ranks that led them.
  void add_links(const std::vector<ProbeResult>& points);
};

// As if the ranks that have reports were all: numbered without the others, with what they measured among
// themselves.
[[nodiscard]] std::vector<RankReport> renumbered_without_lost(std::vector<RankReport> reports);

// The results, warnings, and a cluster: of the ranks that have reports. One that is not whole need not have a
// cluster; throws as assemble_cluster where one that is whole has none.
[[nodiscard]] ClusterProbe conclude(const ClusterFindings& found, const ProbeOptions& options);

}  // namespace sextant
