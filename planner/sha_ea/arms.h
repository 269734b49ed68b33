// Levels 1 and 2 of HetRL's search (section 3.2): the arms of nested successive halving.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "planner/request/groupings.h"

namespace sextant::inline planner {

// Sizes of the groups of one grouping, in units.
struct Arms {
  TaskGrouping grouping;
  std::vector<std::vector<int>> sizes;
};

// Limits of the number of arms.
struct ArmLimits {
  std::size_t groupings = 1;    // used if there are more than kMaxListedTasks tasks
  std::size_t of_grouping = 1;  // combinations of sizes per grouping
};

// Arms of every grouping with at most `units` groups, or of a sample of the groupings: all compositions of
// `units` into an ordered sum, or, if there are more than the limit, a uniform sample of them.
[[nodiscard]] std::vector<Arms> arms_of(int tasks, int units, const ArmLimits& limits, std::mt19937_64& random);

}  // namespace sextant::inline planner
