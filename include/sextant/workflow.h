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
// Who calls the tasks of an iteration: the controller of an RL framework, that sends each to workers (verl,
// NeMo-RL, OpenRLHF ...), or the loop of one program, that does them itself.
enum class Orchestration { controller, loop };

// Names of the tasks of PPO; GRPO has no critic tasks, and no reward_inference with a rule-based reward.
// old_log_prob computes the actor's own log-probabilities again before training; a graph has it where the
// document says so.
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
  std::vector<std::string> after;  // tasks of the same iteration whose results it needs

  friend bool operator==(const Task&, const Task&) = default;
};

struct Workflow {
  static constexpr std::string_view kKind = "workflow";
  // 1.1: reference, old_log_prob; 1.2: data_bytes_per_token, rollout.
  static constexpr SchemaVersion kVersion{1, 2};

  std::string name;
  Algorithm algorithm = Algorithm::grpo;
  Mode mode = Mode::synchronous;
  // Asynchronous: how many iterations old a rollout may be, in batches (0.5: half a batch is made ahead);
  // one_step_off: 1.
  double staleness = 0;
  int streamed_parts = 1;  // asynchronous: parts of a batch that training takes one by one, as they are ready
  Orchestration orchestration = Orchestration::controller;
  std::map<std::string, Model> models;
  std::vector<Task> tasks;       // in an order that respects `after`
  int prompts = 1;               // a global batch, before responses_per_prompt
  int responses_per_prompt = 1;  // GRPO's group size
  int mini_batches = 1;          // optimizer steps a training task takes on one global batch
  Lengths prompt_tokens;
  Lengths response_tokens;
  Precision precision = Precision::bf16;   // weights, activations, arithmetic
  double rule_reward_s_per_sequence = 0;   // rule-based reward on the host; 0 with a reward model
  double turns = 1;                        // of a multi-turn rollout: the response is made in so many parts
  double environment_s_per_turn = 0;       // between two turns a sequence waits for its tools
  double observation_tokens_per_turn = 0;  // that they return, in its context from then on
  // Bytes that generation hands on for each token of prompt and response: 8 for an id, 4 for a log-probability.
  // Images need more; 0 makes moving data free.
  double data_bytes_per_token = 12;
  RolloutRules rollout;

  [[nodiscard]] int sequences() const { return prompts * responses_per_prompt; }
  [[nodiscard]] const Task& task(const std::string& name) const;  // must exist
  [[nodiscard]] bool has_task(const std::string& name) const;
  [[nodiscard]] const Model& model_of(const Task& task) const { return models.at(task.model); }
  // The task of this kind on the model "actor"; every workflow of PPO and GRPO has both. A custom one may
  // lack either: a training step or a generation alone can be measured, fitted and predicted too.
  [[nodiscard]] const Task& actor_generation() const;
  [[nodiscard]] const Task& actor_training() const;
  [[nodiscard]] bool has_weight_sync() const;  // both are there
  // Several tasks, that a controller calls one by one. A training step or a serving batch alone has none.
  [[nodiscard]] bool has_controller() const {
    return orchestration == Orchestration::controller && tasks.size() > 1;
  }

  friend bool operator==(const Workflow&, const Workflow&) = default;
  // Throws Error(bad_input) naming the JSON path; parse calls it.
  void check() const;
  static Workflow parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// What the standard graphs of PPO and GRPO may have or leave out.
struct GraphOptions {
  bool has_reference = true;      // false: training has no KL term, so that no task needs the reference model
  bool has_old_log_prob = false;  // the actor's own log-probabilities are computed again before training
};

// The standard graphs: six tasks for PPO, four for GRPO (three without a reward model).
// The models "critic" and "reward" have a value head.
[[nodiscard]] std::vector<Task> ppo_tasks(const GraphOptions& options = {});
[[nodiscard]] std::vector<Task> grpo_tasks(bool with_reward_model, const GraphOptions& options = {});

// The options of the standard graph that has these tasks, as far as their names tell.
[[nodiscard]] GraphOptions graph_options_of(const Workflow& workflow);

[[nodiscard]] std::string_view name_of(Algorithm algorithm);
[[nodiscard]] std::string_view name_of(Mode mode);
[[nodiscard]] std::string_view name_of(Orchestration orchestration);
[[nodiscard]] std::string_view name_of(TaskKind kind);
[[nodiscard]] TaskKind parse_task_kind(const JsonView& view);

}  // namespace sextant
