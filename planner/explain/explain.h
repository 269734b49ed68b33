// Explains a planner's answer and the changes that would give another; start reading here. Nothing is printed;
// the result is the Explanation of documents/explanation.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/explanation.h"
#include "planner/explain/alternatives.h"
#include "planner/explain/judge.h"
#include "sextant/planners.h"

namespace sextant::inline planner {

// A plan and the request that it answers.
struct Decided {
  const PlanRequest& request;
  const Planner& planner;
  const Plan& plan;
  const CoefficientUncertainty& doubt;
};

// The whole explanation except what_ifs.
[[nodiscard]] Explanation explain(const Decided& decided, const AlternativeLimits& limits = {});

// The heading of an explanation, without alternatives: for requests about other clusters only.
[[nodiscard]] Explanation heading_of(const Decided& decided);

// Changes that are applied together, and the resulting cluster.
struct Scenario {
  std::vector<std::string> changes;  // for people
  Cluster cluster;
};

// Plans again with the same planner, seed and budget. The old plan is the answer if it can still run and no
// better one was found, because a search need not find it again. Pinned tasks stay on the same devices by name;
// the result is infeasible if one of these is missing. devices: receives the number of devices that the plan there
// uses, zero without a plan.
[[nodiscard]] WhatIf plan_what_if(const Decided& decided, const Scenario& scenario, int* devices = nullptr);

}  // namespace sextant::inline planner
