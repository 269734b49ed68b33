// The options that choose a planner and its request, and the list of planners.
#pragma once

#include <string>

#include "ask/plan/planner_options.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

void add_planner_options(const Command& command, PlannerOptions& options);

// Lists all planners with a description: for people, and as a JSON list.
[[nodiscard]] std::string describe_planners();
[[nodiscard]] std::string planners_as_json();

}  // namespace sextant::cli
