// Runs of logs, with the plans that their frameworks' configurations state.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "cli/fit/configured_run.h"

namespace sextant::cli {

struct LogOptions {
  std::string format;
  std::vector<std::string> logs;
  std::vector<std::string>
      configs;       // launch scripts, lists of settings, YAML; empty: in the log, or a side file
  std::string data;  // folder with gpus.json and models.json; empty: the usual one
  ConfigurationOptions configuration;  // GPUs, model and variables
};

struct LogRuns {
  Imported imported;
  std::vector<std::string> notes;  // on the configurations
};

// The plan of a log is that of --config, or that of the launch which stands in the log, or that of its own
// configuration and side file. Throws Error(bad_input).
[[nodiscard]] LogRuns read_log_runs(const LogOptions& options);

}  // namespace sextant::cli
