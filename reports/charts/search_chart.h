// The chart of a planner's search.
#pragma once

#include "sextant/json.h"
#include "sextant/search.h"

namespace sextant::charts {

// The incumbent's time over the seconds of the search, as steps, above the lower bound of all plans. Null if no
// plan was found.
[[nodiscard]] Json search_curve(const SearchRecord& search);

}  // namespace sextant::charts
