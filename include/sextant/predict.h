// The whole model in one call: time, breakdown, memory, timeline and bottleneck of one plan.
#pragma once

#include <string_view>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant {

// Predicts one plan, after check_plan. Values that the plan leaves out are filled in (fill_in_unstated) and
// listed in the notes of the prediction. The result has no intervals; sextant/trust.h adds them. `framework`
// selects the coefficients of one framework.
[[nodiscard]] Prediction predict(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                 const Coefficients& coefficients, std::string_view framework = kAny);

}  // namespace sextant
