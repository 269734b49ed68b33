// One operation of a group of ranks through the harness.
//
// The group's rank 0 leads: it says how often each sample repeats the operation and when there are enough. All
// start behind a barrier, and a sample is the time of the slowest rank. A rank that fails still answers, so
// that nobody waits for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/collective/collectives.h"
#include "probes/comm/communicator.h"
#include "probes/harness/clock.h"
#include "probes/harness/probe_result.h"
#include "probes/harness/sampling.h"

namespace sextant {

using PrepareRun = std::function<std::unique_ptr<CollectiveRun>()>;

class GroupPoints {
 public:
  GroupPoints(const SamplingOptions& sampling, const Clock& clock) : sampling_(sampling), clock_(clock) {}

  // Collective over the group. At its rank 0 a result in s, `share` of the operation's time; the others' is not
  // for use. Failed when a rank could not prepare, failed or has wrong data. After a failure in the middle of
  // an operation its ranks may be anywhere: further points of any of them are waived.
  // names: of the group's ranks, in complaints.
  [[nodiscard]] ProbeResult measure(Communicator& group, const std::string& name, double share,
                                    const PrepareRun& prepare, const std::vector<int>& names = {});

 private:
  [[nodiscard]] ProbeResult sample(Communicator& group, CollectiveRun& run, ProbeResult result, double share);
  void lead(Communicator& group, CollectiveRun& run, ProbeResult& result, double share);
  void follow(Communicator& group, CollectiveRun& run);
  [[nodiscard]] bool run_together(Communicator& group, CollectiveRun& run, int repeats, double& slowest_s);

  SamplingOptions sampling_;
  const Clock& clock_;
  std::string broken_;  // which point broke this rank, and how
  std::vector<int> names_;
};

// What every rank says of itself (empty: all is well): the first complaint, "rank 2: out of memory".
// Collective.
[[nodiscard]] std::string first_complaint(Communicator& group, const std::string& mine,
                                          const std::vector<int>& names = {});

// What rank 0 of the group says. Collective.
[[nodiscard]] int from_leader(Communicator& group, int value);

}  // namespace sextant
