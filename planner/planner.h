// What every planner is asked and what it answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/workflow.h"
#include "planner/objective.h"
#include "planner/search_space.h"

namespace sextant {

// When a search ends. With evaluations alone the same seed gives the same plan on any number of threads and any
// machine; seconds are those of a wall clock.
struct Budget {
  double seconds = 0;             // none: no limit
  std::uint64_t evaluations = 0;  // none: no limit; of whole candidates
};

struct PlanRequest {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  SearchLimits limits = {};
  Objective objective = {};
  // Of planners that search.
  Budget budget = {};
  std::uint64_t seed = 1;
  int threads = 1;
  std::vector<Execution> executions = {};  // by task; none: the default of all
  WeightSyncPlan weight_sync = {};
  const std::atomic<bool>* is_cancelled = nullptr;  // set by anyone: the best so far is returned
};

enum class PlanOutcome {
  found,       // `plan` fits and is the best of what was searched
  infeasible,  // no layout fits: `message` says what is short
  too_large,   // the space exceeds the limit: nothing was searched
};

// What is known of plans that were not looked at.
enum class Proof {
  none,        // nothing beyond `gap_fraction`
  optimal,     // none in the space is better, to a relative 1e-9; or none fits
  gap,         // none is faster than lower_bound_s; the search ended at its budget of evaluations
  time_limit,  // the same; it ended by the clock, or was cancelled
};

// A plan that was better than all before it.
struct Improvement {
  std::uint64_t evaluations = 0;  // that it took
  double seconds = 0;
  double iteration_s = 0;
  double loss = 0;  // what the objective lowers

  friend bool operator==(const Improvement&, const Improvement&) = default;
};

struct PlanResult {
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;
  std::optional<Plan> plan;
  std::optional<Prediction> prediction;
  std::uint64_t candidates = 0;  // whole plans in the space, or looked at by a search
  std::uint64_t feasible = 0;    // of them, fit in memory
  // The plan is at most so far from the best of the space, under this model; infinite: nothing is proved.
  double gap_fraction = 0;
  std::vector<Improvement> improvements;  // of a search, best last
  // Of planners that prove.
  Proof proof = Proof::none;
  double lower_bound_s = 0;  // of any plan of the planner's space
  std::uint64_t nodes = 0;   // of the tree that was searched
};

}  // namespace sextant
