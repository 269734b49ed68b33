// What every planner is asked and what it answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/workflow.h"
#include "planner/search_space.h"

namespace sextant {

struct PlanRequest {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  SearchLimits limits;
};

enum class PlanOutcome {
  found,       // `plan` fits and is the best of what was searched
  infeasible,  // no layout fits: `message` says what is short
  too_large,   // the space exceeds the limit: nothing was searched
};

struct PlanResult {
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;
  std::optional<Plan> plan;
  std::optional<Prediction> prediction;
  std::uint64_t candidates = 0;  // whole plans in the space
  std::uint64_t feasible = 0;    // of them, fit in memory
  double gap_fraction = 0;       // the plan is at most so far from the best of the space, under this model
};

}  // namespace sextant
