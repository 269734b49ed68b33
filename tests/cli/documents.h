// Documents that commands read: tests/data, and tiny ones written to a folder.
#pragma once

#include <string>
#include <vector>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/synthetic_runs.h"
#include "tests/core/temporary_folder.h"

namespace sextant::test {

inline std::string data(const std::string& name) { return std::string(SEXTANT_TEST_DATA) + "/" + name; }

// One layer and a handful of tokens: an iteration takes a core well under a millisecond.
inline Workflow tiny_workflow(const std::string& name = "tiny") {
  Workflow workflow = test::synthetic_workflow(0);
  workflow.name = name;
  Model& model = workflow.models.at("actor");
  model.layers = 2;
  model.heads = model.kv_heads = 4;
  model.head_dim = 8;
  model.hidden = 32;
  model.intermediate = 64;
  model.vocabulary = 64;
  workflow.models.at("reference") = model;
  workflow.prompts = 2;
  workflow.responses_per_prompt = 2;
  workflow.prompt_tokens = fixed_length(4);
  workflow.response_tokens = fixed_length(4);
  return workflow;
}

// Returns a plan with every task in dp x pp x tp from device 0 on.
inline Plan tiny_plan(int dp, int pp, int tp) { return test::synthetic_plan(tiny_workflow(), dp, pp, tp, 1); }

// A folder with cluster.json (two devices), workflow.json and plan.json (on device 0 alone).
class TinyFolder {
 public:
  TinyFolder() {
    save_document(file("cluster.json"), test::two_cores());
    save_document(file("workflow.json"), tiny_workflow());
    save_document(file("plan.json"), tiny_plan(1, 1, 1));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

  // Returns the command with these three documents, and more arguments.
  [[nodiscard]] std::vector<std::string> with_plan(const std::string& command,
                                                   const std::vector<std::string>& more) const {
    std::vector<std::string> all = without_plan(command, {"--plan", file("plan.json")});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string> without_plan(const std::string& command,
                                                      const std::vector<std::string>& more) const {
    std::vector<std::string> all{command, "--cluster", file("cluster.json"), "--workflow",
                                 file("workflow.json")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  TemporaryFolder folder_;
};

// Returns the cluster with this much memory on every device.
inline Cluster with_memory(const Cluster& cluster, double bytes) {
  auto types = cluster.device_types();
  for (auto& [name, type] : types) type.memory_bytes = assumed(bytes);
  return Cluster(cluster.name(), types, cluster.nodes(), cluster.levels(), cluster.exceptions());
}

}  // namespace sextant::test
