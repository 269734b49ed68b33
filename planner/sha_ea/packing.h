// Which option each task takes where tasks share devices: those that fit into memory together, and of these as
// fast as can be found at once.
//
// Multiple-choice knapsacks, one a corner of devices: the residents of its tasks and the largest of what they
// work with, since tasks work one after another. With a cap on the working bytes residents alone are left to
// choose by, for which the greedy rule - the change that saves the most bytes for its time - is the linear
// relaxation's (Zemel 1980), off by a part of one task. So it is tried without a cap and under the lowest; more
// caps find better choices and take more time than they are worth.
#pragma once

#include <vector>

#include "planner/space/options.h"

namespace sextant {

// Devices of one type of which all have the same room and the same tasks.
struct Corner {
  double free_memory_bytes = 0;
  int type = 0;  // OptionTable::type_of
  std::vector<std::size_t> tasks;
};

using OptionLists = std::vector<const std::vector<Option>*>;  // by task, fastest first, none empty
using ChosenOptions = std::vector<const Option*>;             // by task

// `chosen` are the fastest at first. Where nothing fits they are what lacks least, as far as the rule sees.
void choose_fitting(const std::vector<Corner>& corners, const OptionLists& options, ChosenOptions& chosen);

}  // namespace sextant
