// Plans that the chosen one is compared with: what others would have run, and other ways to share devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/planner.h"

namespace sextant {

struct FoundAlternative {
  std::string name;
  PlanResult result;
};

// How much is looked for.
struct AlternativeLimits {
  // More than verl's and StreamRL's placements need for 64 devices, and a second of sha-ea.
  std::uint64_t planner_evaluations = 50'000;
  std::uint64_t grouping_evaluations = 10'000;  // of each grouping
  int groupings = 2;                            // the best so many that no one else has
};

// Of verl-colocated, verl-split, streamrl and sha-ea, but for the planner that the plan is from; and of every
// way to part the tasks into two groups that differ from the plan's groups, cut at a few places of the cluster.
// The objective and limits are the request's for planners that know them, else the time alone.
[[nodiscard]] std::vector<FoundAlternative> find_alternatives(const PlanRequest& request,
                                                              std::string_view planner, const Plan& plan,
                                                              const AlternativeLimits& limits = {});

}  // namespace sextant
