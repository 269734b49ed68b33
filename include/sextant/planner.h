// The request and the result of every planner.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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

namespace sextant::inline planner {
class IslandRanks;
class KnownOptions;
}  // namespace sextant::inline planner

namespace sextant {

// The end of a search. With evaluations and no time limit (wall time) the same seed gives the same plan on any
// machine, with any number of threads and, for planners that use MPI, on up to four ranks.
struct Budget {
  double seconds = 0;             // 0: no limit
  std::uint64_t evaluations = 0;  // whole candidates; 0: no limit
};

struct PlanResult;

struct PlanRequest {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  SearchLimits limits = {};
  Objective objective = {};
  // For planners that search.
  Budget budget = {};
  std::uint64_t seed = 1;
  int threads = 1;
  // Choices for each task in addition to its devices, by task. Empty: one execution, HetRL's Appendix B, with
  // the decode batches that differ in memory.
  std::vector<TaskChoices> choices = {};
  // Planners without the trait has_layout_rules ignore the rules for devices.
  DeviceRules device_rules = {};
  EngineRules engine_rules = {};
  // True: the bound of any plan (PlanResult::bound_of_all_s) holds for every execution with the same precisions
  // and trained weights, not only for the executions above.
  bool bounds_every_execution = false;
  WeightSyncPlan weight_sync = {};
  // Share of a device's memory that a plan may need, context included. A value below 1 leaves headroom for
  // errors of the memory prediction. It is a share of what KV caches of stated size leave of the device: their
  // size has no error.
  double memory_share = 1;
  // Costs that searches for this request leave for later ones (planner/search/known_options.h); ignored if the
  // inputs or choices differ from those that it was made for. Null: every search computes its own.
  std::shared_ptr<KnownOptions> known_options = {};
  // When it has passed, searches cost only the default execution of every degree of parallelism. Costing takes
  // seconds for thousands of devices, during which no search looks at its budget.
  std::optional<std::chrono::steady_clock::time_point> costing_deadline = {};
  const std::atomic<bool>* is_cancelled = nullptr;  // set by any thread: the best plan so far is returned
  // For planners that start from a plan (planners.h): a feasible plan of the same request, with its prediction.
  const PlanResult* start = nullptr;
  // For planners that search on several ranks (planners.h): the ranks of this search. Null: a single process.
  // All ranks get the same result.
  IslandRanks* ranks = nullptr;
  // Called for each improvement by the thread that found it, one call at a time; must not throw.
  std::function<void(const Improvement&)> on_improvement = {};
};

// Copies the request for other inputs, to which the result refers; start, ranks and on_improvement are left
// out. Pins refer to devices by number: the caller must renumber them for another cluster.
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
  other.engine_rules = request.engine_rules;
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
  std::uint64_t candidates = 0;  // whole plans in the space, or evaluated by a search
  std::uint64_t feasible = 0;    // the candidates that fit in memory
  // Relative gap to the best plan of the space, under this model; infinite: nothing is proved.
  double gap_fraction = 0;
  std::vector<Improvement> improvements;  // during the search, best last
  // For planners that prove.
  Proof proof = Proof::none;
  double lower_bound = 0;   // of loss_of() over all plans of the planner's space that respect the limits
  std::uint64_t nodes = 0;  // nodes of the search tree
  int threads = 1;          // threads of all ranks together
  // Bounds of any plan with the request's executions, or any (PlanRequest::bounds_every_execution), added by
  // Planner::plan (exact/bound.h). The bound in dollars needs prices for all devices.
  double bound_of_all_s = 0;
  std::optional<double> bound_of_all_usd;

  // Upper bound of the relative gap to the best possible plan under this model; zero if there is no bound.
  [[nodiscard]] double gap_of_all() const {
    return prediction && bound_of_all_s > 0 ? std::max(0.0, prediction->iteration_s / bound_of_all_s - 1) : 0;
  }
};

}  // namespace sextant
