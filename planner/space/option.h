// One way to lay a task out on given devices, with what it costs.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/evaluate/task_part.h"
#include "planner/space/balance.h"
#include "planner/space/device_order.h"

namespace sextant {

struct MemoryNeeds {
  double resident_bytes = 0, working_bytes = 0;

  friend bool operator==(const MemoryNeeds&, const MemoryNeeds&) = default;
};

struct Option {
  int shape = 0;       // of the evaluator's table
  int even_shape = 0;  // the same before its load was dealt otherwise
  LoadSplit dealing = LoadSplit::evenly;
  DeviceOrder order = DeviceOrder::by_replica;
  TaskValue value;
  // What the layout adds to weight synchronization, of the actor's tasks: where generation has devices that
  // training has not, and where it has none.
  double weights_apart_s = 0, weights_together_s = 0;
  // Most of any device, by type in the order in which the cluster's devices first have them; of a set with
  // devices of one type none: `value` has them.
  std::vector<MemoryNeeds> by_type = {};

  [[nodiscard]] MemoryNeeds needs_on(int type) const {
    return by_type.empty() ? MemoryNeeds{value.max_resident_bytes, value.max_working_bytes}
                           : by_type[static_cast<std::size_t>(type)];
  }

  // In one of the two, by so much that it can count: a thousandth of what the other takes.
  [[nodiscard]] bool syncs_faster_than(const Option& other) const {
    constexpr double kMinimum = 1e-3;
    const double apart_s = other.weights_apart_s - weights_apart_s;
    const double together_s = other.weights_together_s - weights_together_s;
    return std::max(apart_s, together_s) > kMinimum * other.value.time_s;
  }
};

}  // namespace sextant
