// Schedulers to compare with (section 6.5). None looks at what jobs were promised.
#pragma once

#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "planner/coschedule/place.h"

namespace sextant::coschedule {

using Random = std::mt19937_64;

// A policy decides about arriving jobs. Those that choose at random draw from `random`.
struct Policy {
  std::string_view name;
  std::string_view description;
  PlacementAnswer (*place)(const Placement& placement, const Job& job, Random& random);
  bool repacks = false;  // regroups running jobs after arrivals and ends (repack.h)
};

// All policies, the default first.
[[nodiscard]] const std::vector<Policy>& policies();
// Null if there is none of this name.
[[nodiscard]] const Policy* find_policy(std::string_view name);

}  // namespace sextant::coschedule
