// Options that choose a planner and its request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ask/plan/pins.h"
#include "planner/risk/risk_goal.h"
#include "sextant/planners.h"

namespace sextant::inline ask {

// --goal: an objective's goal, or a percentile or the mean of the time under uncertainty.
enum class AskedGoal { time, cost, devices, mean, p50, p75, p90, p95, p99 };

struct PlannerOptions {
  std::string planner{"portfolio"};
  std::optional<double> budget_s;
  std::optional<std::uint64_t> evaluations;
  std::uint64_t seed = 1;
  std::optional<int> threads;  // unset: all cores
  std::vector<int> micro_batch_sequences = SearchLimits{}.micro_batch_sequences;
  bool try_recompute = false;
  bool try_uneven_stages = false;
  bool has_even_load = false;
  std::optional<std::uint64_t> max_plans;
  std::string warm_start;  // a plan document
  AskedGoal goal = AskedGoal::time;
  Objective objective;  // its limits; its goal follows from `goal`
  PinOptions pins;
};

// nullopt if the goal is not about risk.
[[nodiscard]] std::optional<RiskGoal> risk_goal_of(AskedGoal goal);

// Returns the planner of that name, which supports all given options. Throws Error(bad_input): no such planner,
// the cluster is too large for it, or it does not support an option.
[[nodiscard]] const Planner& chosen_planner(const PlannerOptions& options, int devices);

// Applies the options to the request; `start` and the callbacks of the search stay as they are.
void apply(const PlannerOptions& options, const Planner& planner, PlanRequest& request);

}  // namespace sextant::inline ask
