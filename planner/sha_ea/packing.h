// Chooses an option for each of several tasks that share devices, such that all fit into memory, and as fast as
// a greedy rule finds.
//
// The problem is a multiple-choice knapsack per corner of devices: the resident bytes of its tasks plus the
// maximum of their working bytes, because tasks run one after another. With a cap on the working bytes only
// residents are left to choose, and the greedy rule - the change that saves the most bytes per time - is the
// one of the linear relaxation (Zemel 1980), off by a part of one task. So it runs without a cap and with the
// lowest cap; more caps find better choices but take more time than they are worth.
#pragma once

#include <vector>

#include "planner/space/options.h"

namespace sextant::inline planner {

// Devices of one type with the same free memory and the same tasks.
struct Corner {
  double free_memory_bytes = 0;
  int type = 0;  // OptionTable::type_of
  std::vector<std::size_t> tasks;
};

using OptionLists = std::vector<const std::vector<Option>*>;  // by task, fastest first, none empty
using ChosenOptions = std::vector<const Option*>;             // by task

// `chosen` starts with the fastest. If nothing fits it ends with the least excess that the rule finds.
void choose_fitting(const std::vector<Corner>& corners, const OptionLists& options, ChosenOptions& chosen);

}  // namespace sextant::inline planner
