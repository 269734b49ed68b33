// The predicted timeline of one iteration in the Trace Event Format, which chrome://tracing and Perfetto open.
//
// A node is a process and a device a thread of it. Every task is a complete event ("ph": "X") on each of its
// devices, in microseconds from the start of the iteration, with its terms in seconds as arguments. After the
// tasks come, on all devices and of the category "iteration", "weight_sync" and "iteration_overhead": rewards
// of a rule, what the framework does between tasks, and what tasks beside each other take longer than the
// longest of them. The last event ends where the iteration does.
#pragma once

#include "sextant/cluster.h"
#include "sextant/json.h"
#include "sextant/prediction.h"

namespace sextant {

// The cluster must be the prediction's.
[[nodiscard]] Json chrome_trace(const Prediction& prediction, const Cluster& cluster);

}  // namespace sextant
