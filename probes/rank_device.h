// One rank's device: a core and its part of the host's memory, measured in step with all other ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probes/cluster_probe.h"
#include "probes/gathering/liveness_barrier.h"
#include "probes/harness/environment.h"
#include "probes/harness/pinning.h"
#include "probes/harness/probe_context.h"

namespace sextant {

// Where this rank stands among those of its host.
struct RankPlace {
  std::string host;
  int nth_rank = 0;
  int ranks = 0;
  int usable_cpus = 0;  // different CPUs that the host's ranks may use together
};

class RankDevice {
 public:
  // Collective; pins this rank where that is wanted.
  RankDevice(Communicator& world, const ProbeOptions& options);

  // What other measurements of this rank go by, too.
  [[nodiscard]] const ProbeContext& context() const { return context_; }

  // All together: they go through the same points and stop together, until one is missing (muster.h). `step`
  // is told what comes next. Throws Error(machine) where a rank was told to stop before the end.
  [[nodiscard]] RankReport measure(LivenessBarrier& muster, const std::function<bool()>& should_stop,
                                   const std::function<void(const std::string&)>& step);

 private:
  [[nodiscard]] std::vector<ProbeResult> measure_points(const std::function<void(const char*)>& before);
  [[nodiscard]] std::vector<std::string> warnings() const;

  int rank_;
  const ProbeOptions& options_;
  SystemFiles files_;
  RankPlace place_;
  EnvironmentFacts facts_;
  std::optional<Pinned> pinned_;
  ProbeContext context_;
};

}  // namespace sextant
