// Alternatives to the chosen plan: plans of other planners, and other groupings of tasks on devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/planner.h"

namespace sextant::inline planner {

struct FoundAlternative {
  std::string name;
  PlanResult result;
};

// The effort of the search for alternatives.
struct AlternativeLimits {
  // More than the placements of verl and StreamRL need for 64 devices, and a second of sha-ea.
  std::uint64_t planner_evaluations = 50'000;
  std::uint64_t grouping_evaluations = 10'000;  // for each grouping
  int groupings = 2;                            // number of best groupings that no other alternative has
};

// Alternatives from verl-colocated, verl-split, streamrl and sha-ea, except for the plan's own planner, and
// from every split of the tasks into two groups that differ from the plan's groups, at a few places of the
// cluster. Planners that support the request's objective and limits use them; others minimise time alone.
[[nodiscard]] std::vector<FoundAlternative> find_alternatives(const PlanRequest& request,
                                                              std::string_view planner, const Plan& plan,
                                                              const AlternativeLimits& limits = {});

}  // namespace sextant::inline planner
