// Why a plan is the answer, and what would be another: start here. Nothing is printed; documents's
// Explanation is what comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/explanation.h"
#include "planner/explain/alternatives.h"
#include "planner/explain/judge.h"
#include "sextant/planners.h"

namespace sextant {

// A plan and the question that it answers.
struct Decided {
  const PlanRequest& request;
  const Planner& planner;
  const Plan& plan;
  const CoefficientUncertainty& doubt;
};

// All of it, but for what_ifs.
[[nodiscard]] Explanation explain(const Decided& decided, const AlternativeLimits& limits = {});

// What is asked beside the plan itself: a heading of an explanation without alternatives.
[[nodiscard]] Explanation heading_of(const Decided& decided);

// Changes that are made together, and the cluster that they lead to.
struct Scenario {
  std::vector<std::string> changes;  // for people
  Cluster cluster;
};

// Planned again with the same planner, seed and budget. The old plan is taken where it can still be run and
// none that was found is better: a search need not find it again. Pinned tasks stay on the same devices by
// name; infeasible where one of these is gone.
[[nodiscard]] WhatIf plan_what_if(const Decided& decided, const Scenario& scenario);

}  // namespace sextant
