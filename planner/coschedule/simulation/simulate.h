// A simulation of arriving and ending jobs, event by event. Groups run their turns without a pause: a job of a group
// advances by one iteration in every turn, from the moment of its placement on.
//
// Lengths may drift over a run (drift.h). A job that has drifted so far that a member of its group is slower than
// promised is stopped and placed anew with its present lengths. The paper does so if the group saturates (section
// 5.3), which misses members that wait for a longer cycle. A job with lengths in a placement that is certain never
// is: its bounds hold whatever it does.
//
// Jobs may fail: the others of the group go on, and the job comes back as an arrival from its last whole iteration. The
// time until then is no part of its slowdown.
//
// Placement uses bounds of phases; what runs takes what typical lengths of responses take (tail.h). A job keeps its promise if its
// whole run takes at most max_slowdown times as long as alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "planner/coschedule/job.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

struct SimulatedJob {
  std::string name;
  std::string decision;
  double arrival_s = 0, end_s = 0;
  double slowdown = 1;           // of the whole run
  double max_slowdown_seen = 1;  // of its slowest group
  bool kept = true;
  double max_slowdown = 0;  // that it allows
  int resubmissions = 0, failures = 0;
  std::string reason;  // of its first placement
  friend bool operator==(const SimulatedJob&, const SimulatedJob&) = default;
};

// After an event.
struct SimulatedState {
  double time_s = 0;
  double usd_per_hour = 0;
  int rollout_nodes = 0, training_nodes = 0, jobs = 0;
  double bound_usd_per_hour = 0;  // 0: not worked out
  double rollout_busy_fraction = 0, training_busy_fraction = 0;
  friend bool operator==(const SimulatedState&, const SimulatedState&) = default;
};

struct Simulation {
  static constexpr std::string_view kKind = "coschedule_simulation";
  static constexpr SchemaVersion kVersion{1, 1};  // 1.1: always_kept_fraction

  std::string policy;
  std::uint64_t seed = 1;
  double duration_s = 0;  // from the first arrival to the last end
  double mean_usd_per_hour = 0, total_usd = 0;
  int max_rollout_nodes = 0, max_training_nodes = 0, max_jobs = 0;
  double kept_fraction = 1;  // of the jobs, over their whole runs
  double always_kept_fraction =
      0;  // of the jobs: those whose every typical iteration was within what they allow; 0: not stated
  double mean_slowdown = 1;
  double rollout_busy_fraction = 0, training_busy_fraction = 0;  // of the node-time paid for
  int refused = 0;        // jobs that no place could hold, at their arrival
  int restarts = 0;       // of jobs that were regrouped
  int resubmissions = 0;  // of jobs that had drifted
  int failures = 0;
  double restart_s = 0;                  // for which jobs stood still for one of these
  std::map<std::string, int> decisions;  // by name
  double decision_p50_s = 0, decision_p99_s = 0;
  bool was_interrupted = false;
  std::vector<SimulatedJob> jobs;
  std::vector<SimulatedState> states;

  friend bool operator==(const Simulation&, const Simulation&) = default;
  static Simulation parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

struct SimulationOptions {
  std::uint64_t seed = 1;  // of policies that draw
  bool keeps_jobs = true;  // false: only sums, for long traces
  // Promises with a probability count on the tails that are simulated. With TailRule::best they count on kWeaveThreshold, from
  // which the best thresholds are searched, so that no typical iteration is longer than with it.
  TailRule tails = TailRule::best;
  double tail_threshold = kWeaveThreshold;  // of TailRule::fixed
  double probability = 0.95;                // of policies by chance
  double restart_s = 300;  // of a job that is regrouped or placed anew; 197 to 419 s in section 6.6
  double mean_time_between_failures_s = 0;  // of a running job, exponential; 0: none fails
  double return_after_s = 2300;             // a failed job; killed at 2,180 s and back at 4,480 s in Figure 19
  int bound_every = 0;                      // events between lower bounds of the cost; 0: none
  const std::atomic<bool>* is_cancelled = nullptr;
  // Called with the placement after each event, and the time until the next one; may be empty.
  std::function<void(const Placement&, double seconds)> on_state = {};
};

[[nodiscard]] Simulation simulate(const JobTrace& trace, const Policy& policy,
                                  const SimulationOptions& options = {});

}  // namespace sextant::coschedule
