// A measured RL iteration as logs and published tables state it: tasks with uniform layouts on GPUs of one
// type.
//
// The readers fill this form and add it. What the form leaves to the vocabulary's conventions:
//   * responses are log-normal with the stated mean, cut at the token limit, and fixed where the source pads;
//   * generation comes first, inference needs its sequences, training all inference;
//   * an engine with continuous batching keeps its KV cache in what memory its weights leave.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/run_parts.h"

namespace sextant {

// Beside task_names: the actor's log-probabilities of what it generated, where a framework computes them again.
inline constexpr const char* kOldLogProb = task_names::kOldLogProb;

// Ends the name of a framework whose serving engine is the first generation of vLLM (V0, to the middle of
// 2025): its scheduler and sampler are Python between two steps, a tenth of a millisecond a sequence, ten times
// the next one's.
inline constexpr const char* kFirstEngine = "-v0";

// Deviation of the logarithm of response lengths where nothing is said about it.
inline constexpr double kUsualSigma = 0.6;

struct MeasuredTask {
  std::string name;                       // as in task_names, or kOldLogProb
  Degrees degrees;                        // with `first`, where its devices begin
  std::optional<int> layers_first_stage;  // where stages are uneven; those between share the rest evenly
  std::optional<int> layers_last_stage;
  int micro_batch_sequences = 1;
  int decode_batch_sequences = 0;  // as in TaskPlan
  Recompute recompute = Recompute::none;
  Execution execution;         // without context_parallel, which is one of the degrees
  double memory_fraction = 0;  // of a GPU, for weights and cache of a serving engine; 0: no such engine
};

struct MeasuredIteration {
  std::string name;       // of the run
  std::string framework;  // as in Run
  RunSource source = RunSource::published;
  Gpu gpu;
  int gpus = 1;
  int gpus_per_node = 0;                // 0: the type's
  std::map<std::string, Model> models;  // by role: "actor", "critic", "reference", "reward"
  std::vector<MeasuredTask> tasks;      // in any order
  Mode mode = Mode::synchronous;
  double staleness = 0;
  int streamed_parts = 1;
  WeightSyncMethod weight_sync = WeightSyncMethod::shortest;  // where generation has devices of its own
  int prompts = 1;
  int responses_per_prompt = 1;
  int mini_batches = 1;
  Lengths prompt_tokens;
  Lengths response_tokens;
  double rule_reward_s_per_sequence = 0;
  std::vector<double> iteration_s;                    // samples; empty: not measured
  std::map<std::string, std::vector<double>> timers;  // as Run::tasks; one with an unknown task is not taken
  std::map<std::string, std::vector<double>> waits;   // as Run::waits
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;

  [[nodiscard]] bool has_task(const std::string& task) const;
};

// Log-normal lengths whose mean, cut at `max`, is `mean`; with a smaller deviation where `sigma` has no such
// median below `max`, and fixed where the mean is not below it.
[[nodiscard]] Lengths lengths_with_mean(double mean, double sigma, double max);

// As before, with the deviation for which the longest of `count` lengths is `longest` in the mean.
[[nodiscard]] Lengths lengths_with_longest(double mean, double longest, double count, double max);

// The role of the model that a task of this name runs: "actor" for actor_training.
[[nodiscard]] std::string role_of_task(const std::string& task);

// Appends a sentence to a note.
void add_note(std::map<std::string, std::string>& notes, const std::string& key, const std::string& sentence);

// Adds the run, or leaves the record out with the reason: nothing measured is left, or the plan is one that
// check_plan refuses. Without a generation or training task the iteration's time is dropped, with a note.
void add_measured_iteration(Imported& imported, MeasuredIteration iteration);

}  // namespace sextant
