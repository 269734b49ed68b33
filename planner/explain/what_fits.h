// The smallest change of the request with which a plan fits, if none does.
#pragma once

#include <string>

#include "sextant/framework_profile.h"
#include "sextant/planners.h"

namespace sextant {

// Tries for a short time each: a longer search if the request's own was shorter, recomputation if it was not
// tried, layouts that the framework cannot run, and more nodes of an existing type (up to three times the
// number). Returns a phrase such as "with --recompute" or "with 2 more nodes of 8 H100-SXM-80GB one does, which
// takes 143 s"; empty if none of these helps or the search was cancelled. profile: the framework whose layouts
// the request respects; null: none.
[[nodiscard]] std::string what_would_fit(const PlanRequest& request, const FrameworkProfile* profile);

}  // namespace sextant
