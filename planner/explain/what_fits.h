// When no plan fits: the smallest change of the question with which one does.
#pragma once

#include <string>

#include "sextant/framework_profile.h"
#include "sextant/planners.h"

namespace sextant {

// Tries, each for a moment: recomputation where it was not tried, layouts that the framework cannot run, and
// more nodes like those that there are (up to three times as many). A phrase such as "with --recompute" or
// "with 2 more nodes of 8 H100-SXM-80GB one does, which takes 143 s"; empty where none of these helps or the
// search was cancelled. profile: whose layouts the request keeps to; null: none.
[[nodiscard]] std::string what_would_fit(const PlanRequest& request, const FrameworkProfile* profile);

}  // namespace sextant
