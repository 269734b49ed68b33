// Gathers the ranks' device measurements at rank 0: each point as soon as it is available, then the reports.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "probes/gathering/liveness_barrier.h"
#include "probes/harness/probe_result.h"
#include "probes/report/rank_report.h"

namespace sextant::inline probes {

class DeviceGathering {
 public:
  // Collective (liveness_barrier.h). `on_points`: at rank 0; may be empty.
  DeviceGathering(Communicator& world, LivenessBarrier::Limits limits,
                  std::function<void(const std::vector<ProbeResult>& points)> on_points);

  void tell(const std::vector<ProbeResult>& points);
  [[nodiscard]] LivenessBarrier& muster() { return muster_; }

  // Returns all reports of all ranks, in their order, without those of lost ranks. If one is lost, only rank 0
  // has them: no rank may communicate with all others any more.
  [[nodiscard]] std::vector<RankReport> gather(const std::vector<RankReport>& mine, const std::string& what);

 private:
  void hear(int rank, const std::string& text);

  Communicator& world_;
  std::function<void(const std::vector<ProbeResult>&)> on_points_;
  std::map<int, std::string> reports_;  // at rank 0, by rank
  LivenessBarrier muster_;
};

}  // namespace sextant::inline probes
