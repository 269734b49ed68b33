// A run with growing responses: one plan for all of it, or a plan per part with a cost per change.
//
// Responses of part p of a run are f_p times as long as the workflow says, for n_p iterations. A
// plan takes T = sum over p of n_p t_p with t_p the time of an iteration in part p. Candidates are
// the plans that searches find for each part; the plan of the run is the one with the smallest T
// that fits in all parts. Re-planning uses the best sequence of plans, where each change of plans
// costs c seconds (checkpoint, restart, load); dynamic programming finds the sequence with the
// smallest sum.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sextant/planner.h"

namespace sextant::inline planner {

struct RunPart {
  int iterations = 1;
  double length_factor = 1;  // for all responses
};

struct RunPlan {
  std::optional<Plan> plan;         // absent: no plan fits in all parts
  std::vector<double> iteration_s;  // with that plan, by part
  double total_s = 0;               // for the run
  std::vector<double> replanned_s;  // iteration with re-planning, by part
  double replanned_total_s = 0;     // with changes
  int changes = 0;
};

struct RunSearch {
  std::vector<RunPart> parts;
  double change_s = 0;
  // Returns a plan for such a request, if there is an acceptable one.
  std::function<std::optional<Plan>(const PlanRequest&)> plan;
};

// The workflow with the lengths of all responses times `factor`, truncated at the maximum length.
[[nodiscard]] Workflow with_longer_responses(Workflow workflow, double factor);

// `first`: a plan for the request. Each search has the request's budget.
[[nodiscard]] RunPlan plan_for_run(const PlanRequest& request, const Plan& first, const RunSearch& search);

}  // namespace sextant::inline planner
