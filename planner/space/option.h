// One layout of a task on given devices, with its costs.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/evaluate/task_part.h"
#include "planner/space/balance.h"
#include "planner/space/device_order.h"

namespace sextant::inline planner {

struct MemoryNeeds {
  double resident_bytes = 0, working_bytes = 0;

  friend bool operator==(const MemoryNeeds&, const MemoryNeeds&) = default;
};

struct Option {
  int shape = 0;       // position in the evaluator's table
  int even_shape = 0;  // the shape before its load was split
  LoadSplit dealing = LoadSplit::evenly;
  DeviceOrder order = DeviceOrder::by_replica;
  TaskValue value;
  // The actor's tasks: contribution of the layout to weight synchronization if generation has devices that
  // training does not have, and if it has none.
  double weights_apart_s = 0, weights_together_s = 0;
  // Maximum over devices, by type in the order in which the cluster's devices first have them; empty for a set
  // with devices of one type, whose needs are in `value`.
  std::vector<MemoryNeeds> by_type = {};

  [[nodiscard]] MemoryNeeds needs_on(int type) const {
    return by_type.empty() ? MemoryNeeds{value.max_resident_bytes, value.max_working_bytes}
                           : by_type[static_cast<std::size_t>(type)];
  }

  // True if one of the two times is smaller by a relevant amount: a thousandth of the other option's time.
  [[nodiscard]] bool syncs_faster_than(const Option& other) const {
    constexpr double kMinimum = 1e-3;
    const double apart_s = other.weights_apart_s - weights_apart_s;
    const double together_s = other.weights_together_s - weights_together_s;
    return std::max(apart_s, together_s) > kMinimum * other.value.time_s;
  }
};

}  // namespace sextant::inline planner
