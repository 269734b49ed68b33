// Levels 1 and 2 of HetRL's search (section 3.2): the arms of nested successive halving.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "planner/space/groupings.h"

namespace sextant {

// Sizes of the groups of one grouping, in units.
struct Arms {
  TaskGrouping grouping;
  std::vector<std::vector<int>> sizes;
};

// Of every grouping with at most as many groups as there are `units`: all ways to write `units` as an ordered
// sum, or `most` of them drawn evenly where there are more.
[[nodiscard]] std::vector<Arms> arms_of(int tasks, int units, std::size_t most, std::mt19937_64& random);

}  // namespace sextant
