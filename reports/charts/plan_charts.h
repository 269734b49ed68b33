// Charts of one plan and its prediction.
#pragma once

#include "reports/content/content.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"

namespace sextant::charts {

// Stacked bars of the terms of every task: in seconds, or as shares of the task's time.
[[nodiscard]] Json breakdown_seconds(const Prediction& prediction);
[[nodiscard]] Json breakdown_shares(const Prediction& prediction);
// The names of the terms that these bars show as one ("other terms"), because there are more terms than colours.
[[nodiscard]] std::vector<std::string> merged_terms(const Prediction& prediction);

// When each task occupies each device, over one iteration. `cluster` names the devices and may be null.
[[nodiscard]] Json timeline(const Prediction& prediction, const Cluster* cluster);

// Resident and working bytes of each device against its capacity.
[[nodiscard]] Json memory(const Prediction& prediction, const Cluster* cluster);

// Shows which task uses which device as which replica and stage.
[[nodiscard]] Json occupancy(const Plan& plan);
inline constexpr int kMaxOccupancyDevices = 64;

}  // namespace sextant::charts
