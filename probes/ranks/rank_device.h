// One rank's device: a core and its part of the host's memory, measured in step with all other ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probes/campaign/probe_hooks.h"
#include "probes/campaign/probe_options.h"
#include "probes/gathering/liveness_barrier.h"
#include "probes/harness/environment.h"
#include "probes/harness/pinning.h"
#include "probes/harness/probe_context.h"

namespace sextant::inline probes {

// The position of this rank among those of its host.
struct RankPlace {
  std::string host;
  int nth_rank = 0;
  int ranks = 0;
  int usable_cpus = 0;  // distinct CPUs that the host's ranks may use together
};

class RankDevice {
 public:
  // Collective; pins this rank if that is requested.
  RankDevice(Communicator& world, const ProbeOptions& options);

  // Returns the context, which other measurements of this rank use too.
  [[nodiscard]] const ProbeContext& context() const { return context_; }

  // Measures in step: all ranks visit the same points and stop together, until one is missing
  // (liveness_barrier.h). Throws Error(machine) if a rank was told to stop early.
  [[nodiscard]] RankReport measure(LivenessBarrier& muster, const ProbeHooks& hooks);

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

}  // namespace sextant::inline probes
