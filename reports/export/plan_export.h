// A plan as a table, for spreadsheets and data frames.
#pragma once

#include <string>

#include "sextant/plan.h"

namespace sextant::inline reports {

// One row for each stage of each replica, with column names in the first row (RFC 4180). `devices` are numbers in the
// cluster, joined by spaces; `options` are the task's execution options that differ from their defaults, "NAME=VALUE"
// joined by spaces.
[[nodiscard]] std::string plan_as_csv(const Plan& plan);

}  // namespace sextant::inline reports
