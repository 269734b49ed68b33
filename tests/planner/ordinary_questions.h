// Typical planning requests: a model of a common size, RL with common batches and lengths, on nodes of one GPU
// type, run by a framework; and the layout that experienced users would write down.
//
// The recipes are rules of thumb from the frameworks' own example scripts, not searched: sharding over all GPUs
// (FSDP) or tensor parallelism inside a node and pipelines between them (Megatron), full recomputation, 16k
// tokens per micro-batch, states on the host while the engine runs, an engine with the fewest GPUs that hold
// the weights in a quarter of their memory, 40 % of the memory for the KV cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::test {

struct OrdinaryQuestion {
  std::string gpu;
  int nodes = 1;
  std::string model;
  std::string framework;
  Algorithm algorithm = Algorithm::grpo;
  int prompts = 128;
  int responses = 8;
  double mean_response_tokens = 1500;
  int max_response_tokens = 4096;

  [[nodiscard]] std::string name() const;  // "grpo Qwen3-14B 512x8 4k, 4 x 8 H100-SXM-80GB, verl-fsdp"
};

// The list has at least 60: dense models of 1.5B to 72B and mixtures to 235B, on 8 to 256 GPUs.
[[nodiscard]] std::vector<OrdinaryQuestion> ordinary_questions();

[[nodiscard]] Cluster cluster_of(const OrdinaryQuestion& question, const Facts& facts);
[[nodiscard]] Workflow workflow_of(const OrdinaryQuestion& question, const Facts& facts);

// The customary layout, executed as in the profile with the settings above.
[[nodiscard]] Plan recipe_of(const OrdinaryQuestion& question, const FrameworkProfile& profile,
                             const Workflow& workflow, const Cluster& cluster);

}  // namespace sextant::test
