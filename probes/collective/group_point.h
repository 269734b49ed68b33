// Measures one operation of a group of ranks with the harness.
//
// The group's rank 0 leads: it decides how often each sample repeats the operation and when to stop. All start
// behind a barrier, and a sample is the time of the slowest rank. A rank that fails still answers, so that no
// rank waits for it.
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

namespace sextant::inline probes {

using PrepareRun = std::function<std::unique_ptr<CollectiveRun>()>;

class GroupPoints {
 public:
  GroupPoints(const SamplingOptions& sampling, const Clock& clock) : sampling_(sampling), clock_(clock) {}

  // Collective over the group. Returns, at its rank 0, a result in s, `share` of the operation's time; other
  // ranks must ignore theirs. Failed if a rank could not prepare, failed or has wrong data. After a failure in
  // the middle of an operation its ranks are out of step: further points of any of them are waived. names:
  // names of the group's ranks in messages.
  [[nodiscard]] ProbeResult measure(Communicator& group, const std::string& name, double share,
                                    const PrepareRun& prepare, const std::vector<int>& names = {});

 private:
  [[nodiscard]] ProbeResult sample(Communicator& group, CollectiveRun& run, ProbeResult result, double share);
  void lead(Communicator& group, CollectiveRun& run, ProbeResult& result, double share);
  void follow(Communicator& group, CollectiveRun& run);
  [[nodiscard]] bool run_together(Communicator& group, CollectiveRun& run, int repeats, double& slowest_s);

  SamplingOptions sampling_;
  const Clock& clock_;
  std::string broken_;  // the point that broke this rank, and how
  std::vector<int> names_;
};

// Returns the first error among the ranks ("rank 2: out of memory"); empty if every rank passes an empty one.
// Collective.
[[nodiscard]] std::string first_complaint(Communicator& group, const std::string& mine,
                                          const std::vector<int>& names = {});

// Returns the value of the group's rank 0. Collective.
[[nodiscard]] int from_leader(Communicator& group, int value);

}  // namespace sextant::inline probes
