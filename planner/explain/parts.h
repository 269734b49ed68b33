// Where an iteration's time goes, and how two iterations differ.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "documents/explanation.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"

namespace sextant {

// Tasks that hold up the iteration, in order: from its end backwards always the one that ends last before the
// next begins.
[[nodiscard]] std::vector<std::string> critical_tasks(const Prediction& prediction);

// Terms of the critical tasks (what runs beside them counts as nothing), the synchronization of weights, and
// what is left: the controller's time and waiting. They sum to the iteration; longest first, none that are
// nothing.
[[nodiscard]] std::vector<TimePart> parts_of(const Prediction& prediction);

// Parts of `other` less those of `mine`, which sum to the difference of the iterations; largest first.
[[nodiscard]] std::vector<TimePart> differences_of(const Prediction& other, const Prediction& mine);

// By type of the cluster's devices. A device is busy from the start to the end of its tasks.
[[nodiscard]] std::vector<DeviceUse> uses_of(const Cluster& cluster, const Prediction& prediction);

// One line a task.
[[nodiscard]] std::map<std::string, std::string> layouts_of(const Plan& plan);

}  // namespace sextant
