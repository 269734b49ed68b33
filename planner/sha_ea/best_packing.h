// The fastest options of tasks that share devices and fit into memory together, by dynamic programming: what
// choose_fitting() (packing.h) approximates in less time.
#pragma once

#include "planner/sha_ea/packing.h"

namespace sextant::inline planner {

// Makes `chosen` the fastest options, by the sum of their times, with which all tasks fit, if there are such and
// no task is on devices of different corners: types, tasks beside it or free memory. Returns whether it did.
[[nodiscard]] bool choose_best_fitting(const std::vector<Corner>& corners, const OptionLists& options,
                                       ChosenOptions& chosen);

}  // namespace sextant::inline planner
