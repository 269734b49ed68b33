// Describes a search as a document.
#pragma once

#include "sextant/planners.h"
#include "sextant/search.h"

namespace sextant::inline ask {

// result: returned by Planner::plan, with lower bounds for all plans.
struct FinishedSearch {
  const Planner& planner;
  const PlanRequest& request;
  const PlanResult& result;
  double wall_s = 0;
  bool was_interrupted = false;
};

[[nodiscard]] SearchRecord record_of(const FinishedSearch& searched);

}  // namespace sextant::inline ask
