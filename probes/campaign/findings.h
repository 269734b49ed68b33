// The measurements of a campaign of ranks, of cores or of GPUs, and what is concluded from them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probes/assembly/cluster_assembly.h"
#include "probes/harness/probe_result.h"
#include "probes/report/rank_report.h"
#include "sextant/cluster.h"
#include "sextant/ids.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct Findings {
  // Reports are by rank, each with the results that it led. Those of ranks that were lost before are missing.
  std::vector<RankReport> reports;
  std::vector<ProbeResult> collectives;  // of cores; those of GPUs are in the reports
  std::vector<std::string> warnings;     // about the job as a whole
  // Ranks that stopped responding, and why. Then only rank 0 has more than this, and no rank may communicate with
  // all others any more.
  std::map<int, std::string> lost;
  bool is_interrupted = false;

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
  [[nodiscard]] std::vector<ProbeResult> results() const;
  // Adds results to the reports of the ranks that led them.
  void add(const std::vector<ProbeResult>& results);
  // Returns the reports, renumbered from 0 if some are missing, with the measurements among themselves.
  [[nodiscard]] std::vector<RankReport> reports_without_lost() const;
};

struct ClusterProbe {
  Cluster cluster;
  std::vector<ProbeResult> results;      // for all ranks, with every sample
  std::vector<std::string> warnings;     // each says what was seen, why it matters, what to do
  std::vector<DeviceId> device_of_rank;  // the cluster's device of each rank of the job
  std::map<int, std::string> lost;       // ranks that stopped responding while pairs were measured, and why
  bool is_interrupted = false;
  std::string why_no_cluster;  // if too little was measured by an incomplete probe; else empty

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
};

// Returns results, lost ranks and whether it was interrupted; the rest is empty.
[[nodiscard]] ClusterProbe probe_without_cluster(const Findings& found);

// Sets the cluster and the devices of ranks, and returns the warnings of the assembly. If `assemble` throws, an
// incomplete probe has no cluster; of a complete one the Error is thrown.
[[nodiscard]] std::vector<std::string> set_cluster(ClusterProbe& probe,
                                                   const std::function<AssembledCluster()>& assemble);

// Adds a warning for each lost rank.
void warn_of_lost(ClusterProbe& probe);

// Returns results and warnings with all samples, for a file of their own.
[[nodiscard]] Json samples_to_json(const ClusterProbe& probe);

}  // namespace sextant::inline probes
