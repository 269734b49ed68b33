// Describes a search as a document and in words: how far from the optimum the plan can be.
#pragma once

#include <string>

#include "sextant/planners.h"
#include "sextant/search.h"

namespace sextant::cli {

// result: returned by Planner::plan, with lower bounds for all plans.
struct Searched {
  const Planner& planner;
  const PlanRequest& request;
  const PlanResult& result;
  double wall_s = 0;
  bool was_interrupted = false;
};

[[nodiscard]] SearchRecord record_of(const Searched& searched);

// Returns one line of text, empty without a risk goal.
[[nodiscard]] std::string describe_risk(const SearchRecord& search);

// Returns a table of the parts of a run and a line; empty without parts.
[[nodiscard]] std::string describe_run(const SearchRecord& search);

// Returns lines: the number of evaluations, the proof, and how far the plan can be from the optimum.
[[nodiscard]] std::string describe(const SearchRecord& search);

}  // namespace sextant::cli
