// sextant import --from: a cluster, a workflow and a plan from a framework's configuration.
#pragma once

#include <string>
#include <vector>

#include "cli/ask/question.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

struct ConfigurationOptions {
  std::string from;  // empty: the files are logs
  std::vector<std::string> files;
  std::string out_folder{"."};
  std::string cluster_document;
  ClusterOptions cluster;                   // the type of GPU alone takes nodes and GPUs from the configuration
  std::string model, critic, reward_model;  // in place of the configuration's
  std::string prompt_tokens, response_tokens, lengths;
  std::vector<std::string> given;  // NAME=VALUE
};

void add_configuration_options(const Command& command, ConfigurationOptions& options);

// Writes cluster.json, workflow.json and plan.json. Returns the exit code.
[[nodiscard]] int import_configuration(const ConfigurationOptions& options);

}  // namespace sextant::cli
