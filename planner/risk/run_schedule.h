// A run whose responses grow: one plan for all of it, or another plan for each part at the price of a change.
//
// Responses of part p of a run are f_p times as long as the workflow says, for n_p iterations. A plan takes
//   T = sum over p of n_p t_p
// where t_p is an iteration's time in part p. Plans are those that searches find for each part; the one with
// the least T that fits in all parts is the plan for the run. Re-planning takes the best plan of each part, and
// c seconds (checkpoint, restart, load) wherever it is another one than before: the sequence of plans with the
// least sum, by dynamic programming.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sextant/planner.h"

namespace sextant {

struct RunPart {
  int iterations = 1;
  double length_factor = 1;  // of all responses
};

struct RunPlan {
  std::optional<Plan> plan;         // none: no plan fits in all parts
  std::vector<double> iteration_s;  // of it, by part
  double total_s = 0;               // of the run
  std::vector<double> replanned_s;  // of an iteration, by part
  double replanned_total_s = 0;     // with changes
  int changes = 0;
};

struct RunSearch {
  std::vector<RunPart> parts;
  double change_s = 0;
  // A plan of such a request, where there is one that may be taken.
  std::function<std::optional<Plan>(const PlanRequest&)> plan;
};

// The workflow with all responses so many times as long, cut off where they may be no longer.
[[nodiscard]] Workflow with_longer_responses(Workflow workflow, double factor);

// `first`: a plan of the request. Each search has the request's budget.
[[nodiscard]] RunPlan plan_for_run(const PlanRequest& request, const Plan& first, const RunSearch& search);

}  // namespace sextant
