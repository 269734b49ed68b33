// Parts of a plan document that other documents hold too.
#pragma once

#include "core/json.h"
#include "costmodel/vocabulary/plan.h"

namespace sextant {

// {"method": "broadcast", "fraction_sent": 1}; throws Error(bad_input) with the JSON path.
[[nodiscard]] WeightSyncPlan parse_weight_sync(const JsonView& view);

}  // namespace sextant
