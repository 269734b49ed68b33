// What every planner is asked and what it answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/objective.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/search.h"
#include "sextant/search_space.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant {

// When a search ends. With evaluations alone the same seed gives the same plan on any number of threads, any
// machine and, of planners that use them, up to four ranks; seconds are those of a wall clock.
struct Budget {
  double seconds = 0;             // none: no limit
  std::uint64_t evaluations = 0;  // none: no limit; of whole candidates
};

class IslandRanks;
struct PlanResult;

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
  // What may be chosen for each task besides its devices, by task; empty: one execution, HetRL's Appendix B,
  // with the decode batches that memory tells apart.
  std::vector<TaskChoices> choices = {};
  // Planners whose traits do not say so ignore them.
  DeviceRules device_rules = {};
  // The bound of any plan (PlanResult::bound_of_all_s) holds for every execution that keeps the precisions and trains
  // the same weights, not for the executions above alone.
  bool bounds_every_execution = false;
  WeightSyncPlan weight_sync = {};
  // Part of a device's memory that a plan may need, context included: less than 1 leaves headroom for what the
  // prediction of memory may be off by.
  double memory_share = 1;
  const std::atomic<bool>* is_cancelled = nullptr;  // set by anyone: the best so far is returned
  // Of planners that start from a plan (planners.h): a feasible one of the same request, with its prediction.
  const PlanResult* start = nullptr;
  // Of planners that search on several ranks (planners.h): with which this one does. None: it is alone. All get
  // the same result.
  IslandRanks* ranks = nullptr;
  // Called as each is found, by the thread that found it, one at a time; must not throw.
  std::function<void(const Improvement&)> on_improvement = {};
};

// Asks the same question about other inputs, whose references the request keeps; without a start, ranks and who
// is called. Pins name devices by number: they are the caller's to renumber on another cluster.
[[nodiscard]] inline PlanRequest with_inputs(const PlanRequest& request, const Cluster& cluster,
                                             const Workflow& workflow, const Coefficients& coefficients) {
  PlanRequest other{cluster, workflow, coefficients, request.framework};
  other.limits = request.limits;
  other.objective = request.objective;
  other.budget = request.budget;
  other.seed = request.seed;
  other.threads = request.threads;
  other.choices = request.choices;
  other.device_rules = request.device_rules;
  other.bounds_every_execution = request.bounds_every_execution;
  other.weight_sync = request.weight_sync;
  other.memory_share = request.memory_share;
  other.is_cancelled = request.is_cancelled;
  return other;
}

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
  double lower_bound = 0;   // of loss_of() of any plan of the planner's space that keeps the limits
  std::uint64_t nodes = 0;  // of the tree that was searched
  int threads = 1;          // that searched, of all ranks
  // Of any plan of any planner with the request's executions, or any (PlanRequest::bounds_every_execution):
  // what Planner::plan adds (exact/bound.h). Dollars where all devices have prices.
  double bound_of_all_s = 0;
  std::optional<double> bound_of_all_usd;

  // The plan is at most so far from the best that there can be under this model; zero where there is none.
  [[nodiscard]] double gap_of_all() const {
    return prediction && bound_of_all_s > 0 ? std::max(0.0, prediction->iteration_s / bound_of_all_s - 1) : 0;
  }
};

}  // namespace sextant
