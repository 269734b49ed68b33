// The table of how each task of a plan is executed.
#pragma once

#include "reports/content/content.h"
#include "sextant/plan.h"

namespace sextant::inline reports {

// One row for each setting that differs from its default in some task, one column for each task. New options of a
// plan appear by themselves.
[[nodiscard]] Table execution_table(const Plan& plan);

}  // namespace sextant::inline reports
