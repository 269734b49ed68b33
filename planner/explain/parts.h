// The parts of an iteration's time, and the differences between two iterations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "documents/explanation.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"

namespace sextant::inline planner {

// The tasks on the critical path, in order: backwards from the end of the iteration, always the task that ends
// last before the next one begins.
[[nodiscard]] std::vector<std::string> critical_tasks(const Prediction& prediction);

// The terms of the critical tasks (overlapping tasks count as zero), the synchronization of weights, and the
// remainder: the controller's time and waiting. They sum to the iteration; longest first, without parts that
// are zero.
[[nodiscard]] std::vector<TimePart> parts_of(const Prediction& prediction);

// Parts of `other` minus those of `mine`; they sum to the difference of the iterations; largest first.
[[nodiscard]] std::vector<TimePart> differences_of(const Prediction& other, const Prediction& mine);

// Use of the cluster's devices by type. A device is busy from the start to the end of its tasks.
[[nodiscard]] std::vector<DeviceUse> uses_of(const Cluster& cluster, const Prediction& prediction);

// One line per task.
[[nodiscard]] std::map<std::string, std::string> layouts_of(const Plan& plan);

}  // namespace sextant::inline planner
