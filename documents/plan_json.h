// Parts of a plan document that other documents contain too.
#pragma once

#include "sextant/json.h"
#include "sextant/plan.h"

namespace sextant::inline documents {

// Reads {"method": "broadcast", "fraction_sent": 1}. Throws Error(bad_input) with the JSON path.
[[nodiscard]] WeightSyncPlan parse_weight_sync(const JsonView& view);

}  // namespace sextant::inline documents
