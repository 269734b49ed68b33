// Planning problems by name: HetRL's network scenarios (section 5.1) with clusters of several sizes, PPO and
// GRPO, synchronous and one step off.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/planner/planning_case.h"

namespace sextant::test {

struct Instance {
  std::string name;
  Cluster cluster;
  Workflow workflow;
};

inline Workflow grpo_8b(Mode mode) {
  Workflow workflow = ppo_8b(mode);
  workflow.name = "grpo-8b";
  workflow.algorithm = Algorithm::grpo;
  workflow.tasks = grpo_tasks(true);
  workflow.prompts = 64;
  workflow.responses_per_prompt = 8;
  return workflow;
}

// Every workflow on every cluster.
inline std::vector<Instance> instances_on(const std::vector<std::pair<std::string, Cluster>>& clusters) {
  std::vector<Instance> instances;
  for (const auto& [name, cluster] : clusters) {
    for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
      const std::string suffix = mode == Mode::synchronous ? "-sync" : "-async";
      instances.push_back({name + "-ppo" + suffix, cluster, ppo_8b(mode)});
      instances.push_back({name + "-grpo" + suffix, cluster, grpo_8b(mode)});
    }
  }
  return instances;
}

// The same GPUs in one zone, in zones of one region, in regions.
inline std::vector<Instance> instances_of_24() {
  return instances_on(
      {{"zone", cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1}})},
       {"zones", cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1, 8, "z2"}})},
       {"region", cluster_of({{"a100", 1}, {"l40s", 1, 8, "z2"}, {"l4", 1, 8, "z3", "r2"}})},
       {"regions", cluster_of({{"a100", 1, 8}, {"l40s", 2, 4, "z2", "r2"}, {"l4", 2, 4, "z3", "r3"}})}});
}

inline std::vector<Instance> instances_of_64() { return instances_on({{"mixed", mixed_64()}}); }

// HetRL's 24 A100, 24 L40S and 16 L4 in its four kinds of network, and a PPO of models that fill them.
inline std::vector<Instance> instances_of_64_short_of_memory() {
  const std::vector<std::pair<std::string, Cluster>> clusters = {
      {"zone", cluster_of({{"a100", 3}, {"l40s", 3}, {"l4", 2}})},
      {"hybrid", cluster_of({{"a100", 3}, {"l40s", 2}, {"l40s", 1, 8, "z2", "r2"}, {"l4", 2, 8, "z2", "r2"}})},
      {"zones", cluster_of({{"a100", 2},
                            {"a100", 1, 8, "z2"},
                            {"l40s", 2, 8, "z2"},
                            {"l40s", 1, 8, "z3"},
                            {"l4", 2, 8, "z3"}})},
      {"regions", cluster_of({{"a100", 2},
                              {"a100", 1, 8, "z2", "r2"},
                              {"l40s", 2, 8, "z2", "r2"},
                              {"l40s", 1, 8, "z3", "r3"},
                              {"l4", 2, 8, "z4", "r4"}})}};
  std::vector<Instance> instances;
  for (const auto& [name, cluster] : clusters) {
    for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
      Workflow workflow = ppo_14b(mode);
      workflow.response_tokens = fixed_length(4096);
      instances.push_back({name + (mode == Mode::synchronous ? "-14b-sync" : "-14b-async"), cluster, workflow});
    }
  }
  return instances;
}

// A PPO workflow that grows with the cluster: three types in four zones of two regions.
inline Instance instance_of(int gpus) {
  const int machines = gpus / 8;
  Workflow workflow = ppo_8b();
  workflow.prompts = std::max(256, 8 * gpus);
  return {std::to_string(gpus) + "-gpus",
          cluster_of({{"a100", machines / 2 - machines / 8},
                      {"a100", machines / 8, 8, "z2"},
                      {"l40s", machines / 4, 8, "z2"},
                      {"l4", machines / 8, 8, "z3", "r2"},
                      {"l4", machines / 8, 8, "z4", "r2"}}),
          workflow};
}

}  // namespace sextant::test
