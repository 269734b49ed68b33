// The whole model in one call: time, breakdown, memory, timeline and bottleneck of one plan.
#pragma once

#include <string_view>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant {

// Checks the plan first (check_plan). Values that its document leaves out are filled in (fill_in_unstated), and
// the notes of the prediction list them. Without intervals: those are sextant/trust.h's. `framework` chooses
// coefficients that belong to one.
[[nodiscard]] Prediction predict(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                 const Coefficients& coefficients, std::string_view framework = kAny);

}  // namespace sextant
