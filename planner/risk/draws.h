// What may turn out otherwise than planned, drawn: the coefficients of the fit, the lengths of responses over a
// run, the rates of links between zones, and what the model itself is off by.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/explain/judge.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/planner.h"
#include "sextant/workflow.h"

namespace sextant {

// Standard deviations of logarithms, each of a normal distribution around what the documents say. Zero:
// certain.
struct RiskSpread {
  double response_lengths = 0.1;  // of all responses together, from one part of a run to another
  double far_links = 0.1;         // of the rates of all links between zones or regions together

  friend bool operator==(const RiskSpread&, const RiskSpread&) = default;
};

// One way in which things may turn out.
struct RiskDraw {
  Coefficients coefficients;
  Workflow workflow;
  Cluster cluster;
  double model_factor = 1;  // of the time of any plan
};

// One draw for each of the doubt's; `count` where the coefficients are certain. The same for a seed.
[[nodiscard]] std::vector<RiskDraw> risk_draws(const PlanRequest& request, const CoefficientUncertainty& doubt,
                                               const RiskSpread& spread, int count, std::uint64_t seed);

// s of an iteration in each of the draws. Throws Error(bad_input) as check_plan does.
[[nodiscard]] std::vector<double> times_under(const PlanRequest& request, const Plan& plan,
                                              const std::vector<RiskDraw>& draws);

}  // namespace sextant
