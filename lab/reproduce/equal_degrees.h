// A placement without a search: every task has the same tensor parallelism, no pipeline, and replicas over the
// devices in the order of the cluster, as in a launch script that was not tuned for its cluster.
#pragma once

#include <string_view>

#include "lab/reproduce/study.h"
#include "sextant/planner.h"

namespace sextant::inline lab {

// Synchronous: all tasks share the devices. Asynchronous: generation has the first machines and all other tasks
// the rest; of all numbers of machines, and of the micro-batches 1 to 16, the fastest plan that fits. Batches are
// split evenly. Without a plan if nothing fits.
[[nodiscard]] PlanResult plan_with_equal_degrees(const StudyCell& cell, const Cluster& cluster,
                                                 int tensor_parallel, const Coefficients& coefficients,
                                                 std::string_view framework);

}  // namespace sextant::inline lab
