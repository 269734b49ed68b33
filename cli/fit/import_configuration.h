// sextant import --from: a cluster, a workflow and a plan from a framework's configuration.
#pragma once

#include "ask/runs/configured_run.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

void add_configuration_options(const Command& command, ConfigurationOptions& options);

// Writes cluster.json, workflow.json and plan.json. Returns the exit code.
[[nodiscard]] int import_configuration(const ConfigurationOptions& options);

}  // namespace sextant::cli
