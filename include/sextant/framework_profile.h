// A framework's default execution of the tasks of an iteration, its options, and the layouts it cannot run. A
// profile is a file of data/frameworks (the README there explains how to add one).
//
// Profiles are facts with their sources, not results: Sextant only reads them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/execution.h"
#include "sextant/json.h"
#include "sextant/plan.h"
#include "sextant/precision.h"
#include "sextant/workflow.h"

namespace sextant {

// The pipeline stages that a framework can run.
enum class StageRule {
  any,            // every stage may have any number of layers
  even,           // all stages have equally many layers
  even_but_ends,  // the first and the last stage may differ from the others, which are equal
  differ_by_one,  // layers that do not divide make some stages one larger, as engines deal them
};

// The order of a task's devices in its replicas and stages.
enum class RankOrder {
  any,
  replicas_outermost,  // the devices of a replica follow one another
  stages_outermost,    // those of a stage do, of all replicas, as Megatron numbers its ranks
};

// Whether the weights of a task leave devices that the actor's training and generation share, and only those.
enum class OffloadRule {
  exactly,   // they leave if these tasks share their devices, and stay if they do not
  at_least,  // they leave if these tasks share their devices; otherwise the user chooses
  at_most,   // they stay if these tasks do not share their devices; otherwise the user chooses
};

// Whether the rule asks a task to offload its weights, or not to; absent: neither. `shares`: whether training and
// generation share their devices.
[[nodiscard]] std::optional<bool> asked_offload(OffloadRule rule, bool shares);

// Options that are one setting of the framework for several tasks: names of members of an execution,
// "recompute", "micro_batch_sequences", or "zero_stage_3" (whether the ZeRO stage is 3).
struct CommonOptions {
  std::vector<std::string> tasks;
  std::vector<std::string> options;
};

// The value of such an option as text, equal for equal values. "micro_batch_sequences" has none if tokens are
// counted.
[[nodiscard]] std::string option_of(const TaskPlan& task, std::string_view option);

// The options for all tasks of one kind. Every list has the default first and no value twice.
struct TaskProfile {
  std::vector<Execution> executions{Execution{}};
  std::vector<Recompute> recompute{Recompute::none};  // training
  std::vector<int> micro_batch_sequences{1};          // used if no token budget determines the micro-batch
  std::vector<int> decode_batch_sequences{0};         // generation: limit of a replica's concurrency
  // Generation: fractions of a device's memory that the KV cache may take. Empty: all free memory.
  std::vector<double> kv_memory_fractions;
  // Generation: fraction of a device's memory that the engine's default gives to weights, KV cache and workspace together
  // (vLLM's gpu_memory_utilization). 0: not known.
  double engine_memory_fraction = 0;
  // Maximum number of devices that split a stage's matrices, and of stages. 0: no limit.
  int max_tensor_parallel = 0;
  int max_pipeline_parallel = 0;
  bool has_even_batch = false;  // all replicas get equally many sequences
  StageRule stages = StageRule::any;
  std::set<Precision> precisions;  // those of arithmetic that the framework has; empty: all
};

// How a framework computes the rewards that a rule gives.
struct RuleRewards {
  int workers = 1;             // responses that are scored at the same time
  int workers_per_device = 0;  // if not 0, as many for each device, in place of workers
  std::set<Mode> beside;       // modes in which they are computed while other responses are generated

  [[nodiscard]] int workers_of(int devices) const {
    return workers_per_device > 0 ? workers_per_device * devices : workers;
  }
};

// How a framework trains low-rank adapters (LoRA).
struct AdapterTraining {
  std::optional<Precision> weight_precision;  // of the frozen weights in training; absent: as arithmetic
  bool reference_is_actor = false;  // the reference is the actor without its adapters, in the same layout
};

struct FrameworkProfile {
  std::string name;                // "verl-fsdp"
  std::string family;              // "verl"
  bool is_family_default = false;  // the profile that the family's name refers to
  std::string version;             // version of the framework that the facts describe
  std::string coefficients;        // framework whose fitted values are used; "*": the values for all
  WeightSyncPlan weight_sync;
  std::set<Algorithm> algorithms;  // those that its trainer runs; empty: all
  bool has_reference = true;       // an iteration computes the reference's log-probabilities by default
  bool has_old_log_prob = false;   // the actor's own log-probabilities are computed again before training
  // Without has_old_log_prob: so are they with a critic, or with several optimizer steps.
  bool has_old_log_prob_with_critic = false, has_old_log_prob_with_steps = false;
  bool has_reward_model = true;  // a model scores the responses of PPO by default; false: a rule
  RuleRewards rule_rewards;
  AdapterTraining adapters;
  // In asynchronous mode it generates as many batches at the same time as the staleness and this. With one batch, engines
  // drain before the next. Absent: not known, at least one, and engines never drain.
  std::optional<double> batches_beyond_staleness;
  // In asynchronous mode training takes a batch by mini-batches as these are ready; otherwise whole.
  bool streams_mini_batches = false;
  // The modes that it offers, each with the sets of tasks that run on the same devices.
  std::map<Mode, std::vector<std::vector<std::string>>> same_devices;
  // Sets of tasks that run on pairwise disjoint devices, by mode.
  std::map<Mode, std::vector<std::vector<std::string>>> apart_devices;
  // Sets of tasks that one engine computes, with the same replicas, stages and degrees, in every mode.
  std::vector<std::vector<std::string>> same_layout;
  bool shares_all_or_none = false;  // two tasks run on the same devices or on disjoint ones
  // If not empty: all tasks run on the same devices, or devices are shared within these sets alone.
  std::vector<std::vector<std::string>> shares_all_or_within;
  std::vector<std::string> equal_stages;  // tasks whose stages have equal layers, whatever their kind may have
  std::vector<CommonOptions> common_options;
  std::vector<CommonOptions> default_options;              // those of these tasks have the default value
  std::map<std::string, OffloadRule> offload_when_shared;  // by task
  // Whether the engine leaves its devices while other tasks run, by mode: it always does (true), or it never
  // does (false). The executions for generation decide in all other modes.
  std::map<Mode, bool> engine_sleeps;
  // Modes in which no replicas of an engine hold its experts together.
  std::set<Mode> modes_with_whole_engines;
  bool has_whole_engines_with_stages = false;  // nor do those of several stages, in any mode
  std::map<TaskKind, TaskProfile> tasks;
  // The framework's name for an option, for example by "generation.kv_memory_fraction".
  std::map<std::string, std::string> option_names;
  // Training and inference number the ranks of all replicas of a stage one after the other (plan.h: outermost).
  bool has_stages_outermost = false;
  std::vector<std::string> cannot;  // sentences

  // False for the standard graph of an algorithm that is not in the list; custom graphs are not judged.
  [[nodiscard]] bool offers(const Workflow& workflow) const {
    return algorithms.empty() || workflow.algorithm == Algorithm::custom ||
           algorithms.contains(workflow.algorithm);
  }
  // The values for all frameworks.
  [[nodiscard]] bool is_any() const { return coefficients == "*" && version == "0"; }
  // Returns RolloutRules::batches_in_flight of an asynchronous workflow.
  [[nodiscard]] double batches_in_flight(const Workflow& workflow) const {
    const bool is_known = workflow.mode == Mode::asynchronous && workflow.staleness > 0;
    return is_known && batches_beyond_staleness ? workflow.staleness + *batches_beyond_staleness : 0;
  }
  // True if an iteration computes the actor's own log-probabilities again by default.
  [[nodiscard]] bool computes_old_log_prob(bool has_critic, bool has_several_steps) const;

  // Throws Error(bad_input) with the JSON path.
  static FrameworkProfile parse(const JsonView& view);
};

// Loads all *.json files of a folder, in the order of file names. Returns an empty list if there is no such
// folder. Throws Error(bad_input) with the name of the file.
[[nodiscard]] std::vector<FrameworkProfile> load_framework_profiles(const std::filesystem::path& folder);

// Returns the profile with this name, or the default of the family with this name; letter case does not matter.
// Returns null if there is none.
[[nodiscard]] const FrameworkProfile* find_profile(const std::vector<FrameworkProfile>& profiles,
                                                   const std::string& name);

}  // namespace sextant
