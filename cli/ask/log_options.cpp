#include "cli/ask/log_options.h"

namespace sextant::cli {

void add_log_options(const Command& command, LogOptions& logs, const std::string& runs) {
  ConfigurationOptions& configuration = logs.configuration;
  command
      .add_option("--config", logs.configs,
                  "Configuration of the logged " + runs + ": launch scripts, lists of settings, YAML, TOML")
      .may_be_repeated();
  command.add_option(
      "--gpus", configuration.cluster.gpus,
      "GPUs of the logged " + runs + ": 2x8xH100, or the type alone, whose number the configuration has");
  command.add_option("--network", configuration.cluster.network.inside,
                     "Network of one GPU to other nodes: a preset such as ib-ndr, or Gbit/s");
  command.add_option("--model", configuration.model,
                     "Model in place of the configured one: a name, config.json or folder");
  command
      .add_option("--set", configuration.given,
                  "NAME=VALUE: a variable of the script, or a setting in place of the configuration's")
      .may_be_repeated();
}

}  // namespace sextant::cli
