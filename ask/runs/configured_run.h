// Cluster, workflow and plan of a framework's configuration.
#pragma once

#include <string>
#include <vector>

#include "ask/question.h"
#include "calibrate/import/records/log_times.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

struct ConfigurationOptions {
  std::string from;  // empty: the files are logs
  std::vector<std::string> files;
  std::string launch;  // text of a launch, in place of the files' contents
  std::string out_folder{"."};
  std::string cluster_document;
  ClusterOptions cluster;                   // the type of GPU alone takes nodes and GPUs from the configuration
  std::string model, critic, reward_model;  // in place of the configuration's
  std::string prompt_tokens, response_tokens, lengths;
  std::vector<std::string> given;  // NAME=VALUE
};

struct ConfiguredRun {
  FrameworkProfile profile;
  Cluster cluster;
  Workflow workflow;
  Plan plan;
  std::vector<std::string> warnings;  // sentences
  std::vector<std::string> assumed;
  std::vector<std::string> defaults;  // "KEY = VALUE" of settings that are not stated
};

// `measured`: steps of the run's log, null if there is none. Their lengths count in place of those of the options, and
// passes that they time are run, whatever the configuration says. Throws Error(bad_input).
[[nodiscard]] ConfiguredRun read_configured_run(const ConfigurationOptions& options, const LogBand* measured);

}  // namespace sextant::inline ask
