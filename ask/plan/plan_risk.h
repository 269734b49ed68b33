// Chooses, from the plans of several searches, the best under
// uncertainty or over a run with growing responses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ask/inputs.h"
#include "ask/plan/plan_within_risk.h"
#include "planner/explain/judge.h"
#include "planner/risk/risk_goal.h"
#include "planner/risk/run_schedule.h"
#include "sextant/planners.h"

namespace sextant::inline ask {

struct RiskOptions {
  RiskSpread spread;
  int draws = 64;

  friend bool operator==(const RiskOptions&, const RiskOptions&) = default;
};

// Returns the coefficient uncertainty as `draws` samples.
[[nodiscard]] CoefficientUncertainty coefficient_uncertainty_of(const LoadedInputs& loaded, int draws,
                                                                std::uint64_t seed);

// The first search takes half of the budget, each further one a tenth; the rest evaluates their plans.
inline constexpr double kPartOfFirstSearch = 0.5;
inline constexpr double kPartOfSearchForRisk = 0.1;

struct RiskQuestion {
  RiskGoal goal;
  const RiskOptions& options;
  const LoadedInputs& loaded;
  const Planner& planner;
  const PlanRequest& request;  // at the documented values, with the budget of one search
  std::function<PlanOutput(const PlanRequest&)> search;
  std::function<bool(const PlanResult&)> is_sure_to_fit;  // within the requested memory risk
};

struct RunOptions {
  std::vector<std::string> parts;  // "300:1.5"
  double change_s = 600;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

// Throws Error(bad_input) for text that is not a part of a run.
[[nodiscard]] std::vector<RunPart> run_parts(const RunOptions& options);

// Chooses the plan for the whole run, with a record of its parts; no plan if none fits in all of them.
void choose_for_run(const RiskQuestion& asked, const std::vector<RunPart>& parts, double change_s,
                    PlanOutput& answer);

// `answer`: the first plan. Afterwards it is the best of all, with a record of the evaluation.
void choose_by_risk(const RiskQuestion& asked, PlanOutput& answer);

}  // namespace sextant::inline ask
