// The comments at the top of an exported script: plan, cluster, GPUs and models, for people and for importers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/export/trainers/trainer_config.h"
#include "sextant/cluster.h"

namespace sextant::inline reports {

struct ScriptComments {
  std::string plan;                           // its name; empty: the script was not exported
  std::string cluster;                        // its name
  std::vector<std::string> pools;             // "trainer, 1 x 8 GPUs: node1[0-7]"
  std::map<std::string, std::string> models;  // by variable: {"MODEL_PATH", "Qwen3-14B"}
};

// Lines with the names of plan and cluster, and with the GPUs of each pool.
[[nodiscard]] std::string pools_comments(const TrainerConfig& config, const Cluster& cluster);

// The meaning of a model's variable: "the model, Qwen3-14B: a folder, or its name on Hugging Face".
[[nodiscard]] std::string model_meaning(const std::string& role, const std::string& name);

// The reverse of these functions.
[[nodiscard]] ScriptComments read_comments(std::string_view script);

// The pools on this cluster. If it has none of the nodes that the comments name, its first nodes stand for them, in
// the order of their names. Throws Error(bad_input) if the cluster does not have the GPUs.
[[nodiscard]] std::vector<GpuPool> pools_of(const ScriptComments& comments, const Cluster& cluster);

}  // namespace sextant::inline reports
