// Sets of plans: time against dollars, and the modes of a workflow in comparison.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cli/plan/plan_options.h"
#include "planner/request/subcluster.h"
#include "sextant/planners.h"

namespace sextant::cli {

struct PlanSet {
  std::string text;  // a table with a sentence
  std::string json;  // the same content as a JSON list
  bool is_empty = true;
  std::vector<std::string> notes = {};  // for stderr
};

// Returns the Pareto set; an empty one means exit code 1. part: the request's part of the whole cluster, whose
// device names the plans use.
[[nodiscard]] PlanSet pareto_set(const Planner& planner, const PlanRequest& request, const Subcluster& part,
                                 int points);

// Plans the workflow synchronous, one-step-off, and asynchronous with two and four streamed parts of a batch:
// whether it pays, and by how much. Each row is the plan that `sextant plan` finds for that mode, with the
// framework's rules for it; a mode that the framework lacks is not planned. The cost model does not cover the
// effect of staleness on learning.
[[nodiscard]] PlanSet compared_modes(const PlanOptions& options, const AskedPlan& asked,
                                     const std::atomic<bool>& is_cancelled);

}  // namespace sextant::cli
