// Runs to check or to fit: a runs document, or logs with the plans that their frameworks' configurations state.
#pragma once

#include <string>
#include <vector>

#include "ask/runs/configured_run.h"
#include "calibrate/import/records/imported.h"

namespace sextant::inline ask {

struct LogOptions {
  std::string format;  // empty: each log tells it by the names of its metrics
  std::vector<std::string> logs;
  std::vector<std::string>
      configs;       // launch scripts, lists of settings, YAML; empty: in the log, or a side file
  std::string data;  // folder with gpus.json and models.json; empty: the usual one
  ConfigurationOptions configuration;  // GPUs, model and variables
};

struct LogRuns {
  Imported imported;
  std::vector<std::string> notes;  // on the formats and the configurations
};

// The plan of a log is that of --config, or that of the launch which stands in the log, or that of its own
// configuration and side file. Throws Error(bad_input).
[[nodiscard]] LogRuns read_log_runs(const LogOptions& options);

// The same, where the only "log" may be a runs document, or its text. Logs need no format, but one makes documents logs.
[[nodiscard]] LogRuns read_runs(const LogOptions& options);

// A sentence for each record that is no run.
[[nodiscard]] std::vector<std::string> left_out_lines(const Imported& imported);

}  // namespace sextant::inline ask
