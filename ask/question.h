// A question in words: the cluster and the workflow that a few options describe.
#pragma once

#include <string>
#include <vector>

#include "ask/words/cluster_text.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/precision.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

// Empty texts and numbers of 0 are not given; their defaults are in question.cpp.
struct WorkflowOptions {
  std::string model;
  // "rule", "rule=SECONDS" for a response, or a model; empty: the profile's way for PPO, a rule for GRPO.
  std::string reward_model;
  int reward_workers = 0;  // responses that a rule scores at the same time; 0: the profile's
  std::string critic;      // PPO; empty: the actor's shape
  Algorithm algorithm = Algorithm::grpo;
  Mode mode = Mode::synchronous;
  double staleness = 0;
  int streamed_parts = 0;
  int prompts = 0;
  int responses = 0;
  int mini_batches = 0;
  std::string prompt_tokens, response_tokens, lengths;
  double turns = 0;  // of a response; between two of them a sequence waits for its environment
  double environment_s = 0, observation_tokens = 0;  // of each wait
  Precision precision = Precision::bf16;             // of weights, activations and arithmetic
};

struct ClusterOptions {
  std::string gpus;
  NetworkChoice network;
};

// The cluster of --gpus; adds a sentence to `notes` for each assumption. Throws Error(bad_input).
[[nodiscard]] Cluster cluster_of(const ClusterOptions& options, std::vector<std::string>& notes);

// The workflow of --model and the options beside it. The graph has the tasks that the framework runs by
// default. devices: of the cluster. Throws Error(bad_input).
[[nodiscard]] Workflow workflow_of(const WorkflowOptions& options, const FrameworkProfile* profile, int devices,
                                   std::vector<std::string>& notes);

}  // namespace sextant::inline ask
