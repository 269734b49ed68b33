// A search as a document, and in words: how far from the best the plan can be.
#pragma once

#include <string>

#include "costmodel/vocabulary/search.h"
#include "planner/planners.h"

namespace sextant::cli {

// lower_bound_s: of any plan (planner/exact/bound.h).
struct Searched {
  const Planner& planner;
  const PlanRequest& request;
  const PlanResult& result;
  double lower_bound_s = 0;
  double wall_s = 0;
  bool was_interrupted = false;
};

// Throws Error(machine), exit code 3, for a plan that is faster than the bound: then the bound or the plan is
// wrong, and no one's input.
[[nodiscard]] SearchRecord record_of(const Searched& searched);

// What the search looked at, what it proves and how far the plan can be from the best; lines.
[[nodiscard]] std::string describe(const SearchRecord& search);

}  // namespace sextant::cli
