// The options of sextant plan --goal p90 and --length-schedule.
#pragma once

#include "ask/plan/plan_risk.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

void add_risk_options(const Command& command, RiskOptions& options);
void add_run_options(const Command& command, RunOptions& options);

}  // namespace sextant::cli
