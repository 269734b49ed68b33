// The chart of a search.
#pragma once

#include "sextant/json.h"
#include "sextant/search.h"

namespace sextant::charts {

// The best so far over the seconds of the search, as steps, above the least that any plan takes. Null where
// nothing was found.
[[nodiscard]] Json search_curve(const SearchRecord& search);

}  // namespace sextant::charts
