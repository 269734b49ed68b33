// The smallest change of the request with which a plan fits, if none does.
#pragma once

#include <optional>
#include <string>

#include "sextant/framework_profile.h"
#include "sextant/planners.h"

namespace sextant::inline planner {

struct Fitting {
  // A phrase such as "with --recompute one does" or "with 2 more nodes of 8 H100-SXM-80GB one does, which takes 143 s";
  // empty if nothing helps or the search was cancelled.
  std::string change;
  std::optional<PlanResult> plan;  // set if the plan needs no change: the request's own search was too short
};

// Tries for a short time each: a longer search if the request's own was shorter, smaller micro-batches, recomputation
// if it was not tried, LoRA and the optimizer on the host if the framework has them, layouts that the framework cannot
// run, and more nodes of an existing type (up to three times the number). profile: the framework whose layouts the
// request respects; null: none.
[[nodiscard]] Fitting what_would_fit(const PlanRequest& request, const FrameworkProfile* profile);

}  // namespace sextant::inline planner
