// The Pareto front of time and dollars: plans of which none is both faster and cheaper than another.
#pragma once

#include <vector>

#include "sextant/planners.h"

namespace sextant::inline planner {

struct ParetoPoint {
  PlanResult result;
  Rented rented;
  double usd_per_iteration = 0;
};

// The Pareto front, fastest plan first, cheapest last. It takes `points` >= 2 searches, each with the request's
// budget: for the fastest plan, for the cheapest, and for the cheapest under deadlines at equal ratios between
// the two. The request's own limits apply to all. Fewer points if searches find the same plan or none.
// `planner` must support objectives. Throws Error(bad_input) if a device type has no price.
[[nodiscard]] std::vector<ParetoPoint> pareto_front(const PlanRequest& request, const Planner& planner,
                                                    int points);

}  // namespace sextant::inline planner
