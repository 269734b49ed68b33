// Habits of frameworks that complete the layouts which a user states in words.
#pragma once

#include <string>
#include <vector>

#include "ask/words/layout_text.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

// Layers that do not divide by the stages are dealt as the framework deals them, and weights for which the
// words have no offload= leave the devices that generation and training share, if the framework does that.
// `assumed` receives a sentence for each change of offloading.
void follow_framework(const FrameworkProfile& profile, const LayoutOptions& layouts, const Workflow& workflow,
                      const Cluster& cluster, Plan& plan, std::vector<std::string>& assumed);

}  // namespace sextant::inline ask
