// More than one plan: time against dollars, and the modes of a workflow beside each other.
#pragma once

#include <string>

#include "planner/request/subcluster.h"
#include "sextant/planners.h"

namespace sextant::cli {

struct PlanSet {
  std::string text;  // a table with a sentence
  std::string json;  // the same as a list
  bool is_empty = true;
};

// Exit code 1 is for an empty one. part: what the request's cluster is of the whole, whose devices plans are to
// name.
[[nodiscard]] PlanSet pareto_set(const Planner& planner, const PlanRequest& request, const Subcluster& part,
                                 int points);

// The workflow as it is asked for planned synchronously, one step off and asynchronously with two and four
// parts of a batch streamed: whether it pays, and by how much. What staleness does to what is learned no cost
// model knows.
[[nodiscard]] PlanSet compared_modes(const Planner& planner, const PlanRequest& request,
                                     const Subcluster& part);

}  // namespace sextant::cli
