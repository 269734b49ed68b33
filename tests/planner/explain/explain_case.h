// Small clusters and a workflow for explanations: 8 A100 and 8 L40S in two zones.
#pragma once

#include "planner/explain/explain.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {

inline Cluster explained_cluster() { return cluster_of({{"a100", 2, 4}, {"l40s", 2, 4, "z2"}}); }

constexpr AlternativeLimits kQuick{16'000, 2'000, 2};

struct ExplainedCase {
  Cluster cluster = explained_cluster();
  Workflow workflow = ppo_8b();
  Coefficients coefficients;
  CoefficientUncertainty doubt;
  PlanRequest request{cluster, workflow, coefficients};
  PlanResult result;
  const Planner* planner = find_planner("sha-ea");

  ExplainedCase() {
    request.budget = {0, 16'000};
    result = planner->plan(request);
  }
  ExplainedCase(const ExplainedCase&) = delete;
  ExplainedCase& operator=(const ExplainedCase&) = delete;
  ~ExplainedCase() = default;

  [[nodiscard]] Decided decided() const { return {request, *planner, *result.plan, doubt}; }
};

}  // namespace sextant::test
