// Plans that the chosen one is compared with: what others would have run, and other ways to share devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/planner.h"

namespace sextant {

struct FoundAlternative {
  std::string name;
  PlanResult result;
};

// How much is looked for.
struct AlternativeLimits {
  std::uint64_t evaluations = 2000;  // of each planner and each grouping
  int groupings = 2;                 // of two groups of tasks: the best so many that no one else has
};

// Of verl-colocated, verl-split, streamrl and sha-ea, but for the planner that the plan is from; and of every
// way to part the tasks into two groups that differ from the plan's groups. The objective and limits are the
// request's for planners that know them, else the time alone.
[[nodiscard]] std::vector<FoundAlternative> find_alternatives(const PlanRequest& request,
                                                              std::string_view planner, const Plan& plan,
                                                              const AlternativeLimits& limits = {});

}  // namespace sextant
