// The reverse of an exporter: what a user's configuration of an RL framework says of workflow and GPUs. The plan
// is read by the framework's Dialect.
//
// To add one: a source beside verl_import.cpp, a declaration and a row in importers.h and .cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/import/run_settings.h"
#include "sextant/workflow.h"

namespace sextant::inline reports {

struct RunFacts {
  std::string profile;  // "verl-megatron": a file of data/frameworks that has a dialect
  // Nodes and GPUs of each for all tasks together.
  int nodes = 1;
  int gpus_per_node = 8;

  bool has_critic = false;  // PPO
  bool has_reference = false;
  bool has_old_log_prob = false;
  bool has_reward_model = false;
  Mode mode = Mode::synchronous;
  double staleness = 0;
  int streamed_parts = 1;       // in which training takes a batch
  bool is_interrupted = false;  // weights change while a response is generated
  int prompts = 1;
  int responses_per_prompt = 1;
  int mini_batches = 1;
  Precision precision = Precision::bf16;
  int max_prompt_tokens = 1;
  int max_response_tokens = 1;
  // Names or paths of models as the configuration has them; empty: it has none.
  std::string actor, critic, reward;

  std::vector<std::string> notes;                // what the plan has otherwise than the configuration, and why
  std::vector<std::string_view> without_effect;  // as in UnneededSettings, for this run
};

// Settings that a plan does not need, by their key; "*" stands for any characters.
struct UnneededSettings {
  std::vector<std::string_view> without_effect;  // on time and memory
  // Without effect if they have this value: {"actor.ppo_epochs", "1"}.
  std::vector<std::pair<std::string_view, std::string_view>> neutral;
};

// The setting that turns the reference on: {"beta", "0.04"}. A log that times one was made with it. Empty: a reference
// is on by default.
struct ReferenceSwitch {
  std::string_view key, value;
};

struct Importer {
  std::string_view family;  // "verl"
  SettingSource source;
  UnneededSettings unneeded;
  // May add derived defaults (TrainerSettings::assume).
  RunFacts (*read)(RunSettings& run);
  ReferenceSwitch reference = {};
};

// "KEY=VALUE" of the settings that were not used and may change time or memory.
[[nodiscard]] std::vector<std::string> unused_settings(const TrainerSettings& settings,
                                                       const Importer& importer, const RunFacts& facts);

// The standard graph of the facts.
struct RunGraph {
  Algorithm algorithm = Algorithm::grpo;
  std::vector<Task> tasks;
};
[[nodiscard]] RunGraph graph_of(const RunFacts& facts);

// The keys that state batches and lengths, and the framework's values where they are not there.
struct BatchKeys {
  std::string_view prompts, responses;  // of an iteration; of a prompt
  int usual_prompts = 1, usual_responses = 1;
  std::string_view response_tokens, total_tokens, prompt_tokens;  // the longest ones
  int usual_response = 1024;
  int usual_total = 0;               // 0: the response and an assumed prompt
  bool must_state_response = false;  // the framework has no value of its own
};
void take_batches(const TrainerSettings& settings, const BatchKeys& keys, RunFacts& facts);

// Optimizer steps of this many sequences; notes it if they do not divide the batch, in the words of `key`.
void take_steps(long long step_sequences, const std::string& key, RunFacts& facts);

// Throws Error(bad_input): the setting says that the configuration trains otherwise, by "supervised fine-tuning".
[[noreturn]] void refuse_other_training(const TrainerSettings& settings, const std::string& key,
                                        std::string_view training);

// The first stated key of a section ("sft": "sft.max_num_steps"); empty: there is none.
[[nodiscard]] std::string key_below(const TrainerSettings& settings, std::string_view section);

// Notes an estimator of advantages that is neither GAE nor GRPO's.
void note_estimator(const std::string& key, const std::string& estimator, RunFacts& facts);

// Nodes and GPUs of a node that hold two pools: beside each other if both have the same number of nodes and a
// usual node has room for both, otherwise nodes of their own.
struct GpuShape {
  int nodes = 1;
  int gpus_per_node = 1;
};
[[nodiscard]] GpuShape shape_of_pools(const GpuShape& a, const GpuShape& b);

}  // namespace sextant::inline reports
