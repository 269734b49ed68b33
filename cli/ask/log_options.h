// Options of the commands that read logs of runs beside a runs document.
#pragma once

#include <string>

#include "ask/runs/log_runs.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

// --config and what a configuration leaves open. `runs`: "run" or "runs", as the help says it.
void add_log_options(const Command& command, LogOptions& logs, const std::string& runs);

}  // namespace sextant::cli
