// The predicted timeline of one iteration in the Trace Event Format, which chrome://tracing and Perfetto open.
//
// A node is a process and a device a thread of it. Every task is a complete event ("ph": "X") on each of its
// devices, in microseconds from the start of the iteration, with its terms in seconds as arguments. After the
// tasks come, on all devices and in the category "iteration", "weight_sync" and "iteration_overhead":
// rule-based rewards, the framework's work between tasks, and the time that overlapping tasks take beyond the
// longest of them. The last event ends with the iteration.
#pragma once

#include "sextant/cluster.h"
#include "sextant/json.h"
#include "sextant/prediction.h"

namespace sextant::inline reports {

// The cluster must be the prediction's.
[[nodiscard]] Json chrome_trace(const Prediction& prediction, const Cluster& cluster);

}  // namespace sextant::inline reports
