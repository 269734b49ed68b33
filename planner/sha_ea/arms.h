// Levels 1 and 2 of HetRL's search (section 3.2): the arms of nested successive halving.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "planner/request/groupings.h"

namespace sextant {

// Sizes of the groups of one grouping, in units.
struct Arms {
  TaskGrouping grouping;
  std::vector<std::vector<int>> sizes;
};

// How many arms there may be.
struct ArmLimits {
  std::size_t groupings = 1;    // where there are more tasks than kMaxListedTasks
  std::size_t of_grouping = 1;  // sizes of its groups
};

// Of every grouping with at most as many groups as there are `units`, or of a sample of them: all ways to write
// `units` as an ordered sum, or as many as the limit drawn evenly where there are more.
[[nodiscard]] std::vector<Arms> arms_of(int tasks, int units, const ArmLimits& limits, std::mt19937_64& random);

}  // namespace sextant
