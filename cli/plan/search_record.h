// A search as a document, and in words: how far from the best the plan can be.
#pragma once

#include <string>

#include "sextant/planners.h"
#include "sextant/search.h"

namespace sextant::cli {

// result: as Planner::plan gives it, with the bounds of any plan.
struct Searched {
  const Planner& planner;
  const PlanRequest& request;
  const PlanResult& result;
  double wall_s = 0;
  bool was_interrupted = false;
};

[[nodiscard]] SearchRecord record_of(const Searched& searched);

// One line of text, empty where risk was not asked for.
[[nodiscard]] std::string describe_risk(const SearchRecord& search);

// A table of the parts of a run and a line; empty where none was asked for.
[[nodiscard]] std::string describe_run(const SearchRecord& search);

// What the search looked at, what it proves and how far the plan can be from the best; lines.
[[nodiscard]] std::string describe(const SearchRecord& search);

}  // namespace sextant::cli
