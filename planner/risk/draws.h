// Random samples of the uncertain inputs of a plan: the coefficients of the fit, response lengths over a run,
// the rates of links between zones, and the error of the model itself.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/explain/judge.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/planner.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// Standard deviations of logarithms, each of a normal distribution around the value in the documents. Zero: no
// uncertainty.
struct RiskSpread {
  double response_lengths = 0.1;  // for all responses together, from one part of a run to another
  double far_links = 0.1;         // for the rates of all links between zones or regions together

  friend bool operator==(const RiskSpread&, const RiskSpread&) = default;
};

// One sample of the uncertain inputs.
struct RiskDraw {
  Coefficients coefficients;
  Workflow workflow;
  Cluster cluster;
  double model_factor = 1;  // for the time of any plan
};

// One sample per draw of `doubt`; `count` samples if the coefficients are certain. Deterministic per seed. Every
// second sample has the lengths and rates of the one before on the other side of the documented values, so that
// few samples have the right median (antithetic variates).
[[nodiscard]] std::vector<RiskDraw> risk_draws(const PlanRequest& request, const CoefficientUncertainty& doubt,
                                               const RiskSpread& spread, int count, std::uint64_t seed);

// The time of an iteration in each of the draws, in seconds. Throws Error(bad_input) like check_plan.
[[nodiscard]] std::vector<double> times_under(const PlanRequest& request, const Plan& plan,
                                              const std::vector<RiskDraw>& draws);

}  // namespace sextant::inline planner
