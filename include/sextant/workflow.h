// The RL algorithm as a graph of tasks over models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/lengths.h"
#include "sextant/model.h"
#include "sextant/precision.h"
#include "sextant/rollout.h"

namespace sextant {

enum class Algorithm { ppo, grpo, custom };
enum class Mode { synchronous, one_step_off, asynchronous };
enum class TaskKind { generation, inference, training };
// The program that calls the tasks of an iteration: the controller of an RL framework, which sends each task to
// workers (verl, NeMo-RL, OpenRLHF ...), or the loop of a single program that runs them itself.
enum class Orchestration { controller, loop };

// Names of the tasks of PPO. GRPO has no critic tasks, and neither has reward_inference with a rule-based reward.
// old_log_prob recomputes the actor's own log-probabilities before training; a graph has it if the document
// says so.
namespace task_names {
inline constexpr const char* kActorGeneration = "actor_generation";
inline constexpr const char* kRewardInference = "reward_inference";
inline constexpr const char* kOldLogProb = "old_log_prob";
inline constexpr const char* kReferenceInference = "reference_inference";
inline constexpr const char* kCriticInference = "critic_inference";
inline constexpr const char* kActorTraining = "actor_training";
inline constexpr const char* kCriticTraining = "critic_training";
}  // namespace task_names

struct Task {
  std::string name;
  TaskKind kind = TaskKind::inference;
  std::string model;               // key into Workflow::models: "actor", "critic", ...
  std::vector<std::string> after;  // tasks of the same iteration whose results this task needs

  friend bool operator==(const Task&, const Task&) = default;
};

struct Workflow {
  static constexpr std::string_view kKind = "workflow";
  // 1.1: reference, old_log_prob; 1.2: data_bytes_per_token, rollout; 1.3: context_tokens of models;
  // 1.4: reward_workers of rollout.
  static constexpr SchemaVersion kVersion{1, 4};

  std::string name;
  Algorithm algorithm = Algorithm::grpo;
  Mode mode = Mode::synchronous;
  // Asynchronous: maximum age of a rollout in iterations, counted in batches (0.5: half a batch is generated in
  // advance); one_step_off: 1.
  double staleness = 0;
  int streamed_parts = 1;  // asynchronous: parts of a batch that training takes one by one as they finish
  Orchestration orchestration = Orchestration::controller;
  std::map<std::string, Model> models;
  std::vector<Task> tasks;       // in an order that respects `after`
  int prompts = 1;               // in a global batch, before responses_per_prompt
  int responses_per_prompt = 1;  // GRPO's group size
  int mini_batches = 1;          // optimizer steps of a training task per global batch
  Lengths prompt_tokens;
  Lengths response_tokens;
  Precision precision = Precision::bf16;   // weights, activations, arithmetic
  double rule_reward_s_per_sequence = 0;   // rule-based reward on the host; 0 with a reward model
  double turns = 1;                        // multi-turn rollout: number of parts of a response
  double environment_s_per_turn = 0;       // wait of a sequence for its tools between two turns
  double observation_tokens_per_turn = 0;  // returned by the tools and appended to the context
  // Bytes that generation sends on for each token of prompt and response: 8 for an id, 4 for a log-probability.
  // Images need more; 0 makes these transfers free.
  double data_bytes_per_token = 12;
  RolloutRules rollout;

  [[nodiscard]] int sequences() const { return prompts * responses_per_prompt; }
  [[nodiscard]] const Task& task(const std::string& name) const;  // must exist
  [[nodiscard]] bool has_task(const std::string& name) const;
  [[nodiscard]] const Model& model_of(const Task& task) const { return models.at(task.model); }
  // The generation (or training) task on the model "actor"; every workflow of PPO and GRPO has both. A custom
  // workflow may lack either: a lone training step or generation can be measured, fitted and predicted too.
  [[nodiscard]] const Task& actor_generation() const;
  [[nodiscard]] const Task& actor_training() const;
  [[nodiscard]] bool has_weight_sync() const;  // true if both exist
  // True if a controller calls several tasks one by one. A lone training step or serving batch has none.
  [[nodiscard]] bool has_controller() const {
    return orchestration == Orchestration::controller && tasks.size() > 1;
  }

  friend bool operator==(const Workflow&, const Workflow&) = default;
  // Throws Error(bad_input) with the JSON path; parse() calls it.
  void check() const;
  // A sentence for each model whose longest sequence is shorter than the longest prompt with its response.
  [[nodiscard]] std::vector<std::string> context_warnings() const;
  static Workflow parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The optional parts of the standard graphs of PPO and GRPO.
struct GraphOptions {
  bool has_reference = true;      // false: training has no KL term, so no task needs the reference model
  bool has_old_log_prob = false;  // the actor's log-probabilities are recomputed before training
};

// The standard graphs: six tasks for PPO and four for GRPO, one less if a rule gives the reward instead of a model.
// The models "critic" and "reward" have a value head.
[[nodiscard]] std::vector<Task> ppo_tasks(const GraphOptions& options = {}, bool with_reward_model = true);
[[nodiscard]] std::vector<Task> grpo_tasks(bool with_reward_model, const GraphOptions& options = {});

// The options of the standard graph with these tasks, as far as the names determine them.
[[nodiscard]] GraphOptions graph_options_of(const Workflow& workflow);

[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::string_view name_of(Mode mode);
[[nodiscard]] std::string_view name_of(Orchestration orchestration);
[[nodiscard]] std::string_view name_of(TaskKind kind);
[[nodiscard]] TaskKind parse_task_kind(const JsonView& view);

}  // namespace sextant
