// Time against dollars: plans of which none is both faster and cheaper than another.
#pragma once

#include <vector>

#include "sextant/planners.h"

namespace sextant {

struct ParetoPoint {
  PlanResult result;
  Rented rented;
  double usd_per_iteration = 0;
};

// The fastest plan first, the cheapest last. `points` >= 2 searches, each with the request's budget: the
// fastest plan, the cheapest, and the cheapest under deadlines at equal ratios between the two. The request's
// own limits hold for all. Fewer where searches found the same or none. planner: one that has objectives.
// Throws Error(bad_input) where a device type has no price.
[[nodiscard]] std::vector<ParetoPoint> pareto_front(const PlanRequest& request, const Planner& planner,
                                                    int points);

}  // namespace sextant
