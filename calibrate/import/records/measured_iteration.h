// A measured RL iteration in the form of logs: tasks with uniform layouts on GPUs of one type.
//
// The readers fill this form and add it. It follows these conventions of the documents:
//   * responses are log-normal with the stated mean, cut at the token limit, and fixed if the source pads;
//   * generation comes first, inference needs its sequences, training all inference;
//   * an engine with continuous batching uses the memory that its weights leave for the KV cache.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/run_parts.h"

namespace sextant::inline calibrate {

// The actor's log-probabilities of its own output, if a framework recomputes them; an addition to task_names.
inline constexpr const char* kOldLogProb = task_names::kOldLogProb;

// Suffix of a framework's name whose serving engine is the first generation of vLLM (V0, until the middle of
// 2025): its scheduler and sampler run Python between two steps, a tenth of a millisecond per sequence, ten
// times as long as in the next generation.
inline constexpr const char* kFirstEngine = "-v0";

// Deviation of the logarithm of response lengths if the source does not state it.
inline constexpr double kUsualSigma = 0.6;

struct MeasuredTask {
  std::string name;  // as in task_names, or kOldLogProb
  Degrees degrees;   // with `first`, where its devices begin
  int micro_batch_sequences = 1;
  int decode_batch_sequences = 0;  // as in TaskPlan
  Recompute recompute = Recompute::none;
  Execution execution;         // without context_parallel, which is one of the degrees
  double memory_fraction = 0;  // fraction of a GPU for weights and cache of a serving engine; 0: no such engine
};

struct MeasuredIteration {
  std::string name;       // name of the run
  std::string framework;  // as in Run
  Gpu gpu;
  int gpus = 1;
  int gpus_per_node = 0;                // 0: the default of the GPU type
  std::map<std::string, Model> models;  // by role: "actor", "critic", "reference", "reward"
  std::vector<MeasuredTask> tasks;      // in any order
  int prompts = 1;
  int responses_per_prompt = 1;
  int mini_batches = 1;
  Lengths prompt_tokens;
  Lengths response_tokens;
  double rule_reward_s_per_sequence = 0;
  std::vector<double> iteration_s;                    // samples; empty: not measured
  std::map<std::string, std::vector<double>> timers;  // as Run::tasks; timers of unknown tasks are ignored
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;

  [[nodiscard]] bool has_task(const std::string& task) const;
};

// Returns log-normal lengths whose mean, cut at `max`, is `mean`; with a smaller deviation if `sigma` allows no
// such median below `max`, and fixed if the mean is not below it.
[[nodiscard]] Lengths lengths_with_mean(double mean, double sigma, double max);

// Like lengths_with_mean, with the deviation for which the mean of the longest of `count` lengths is `longest`.
[[nodiscard]] Lengths lengths_with_longest(double mean, double longest, double count, double max);

// The role of the model that a task of this name runs: "actor" for actor_training.
[[nodiscard]] std::string role_of_task(const std::string& task);

// Appends a sentence to a note.
void add_note(std::map<std::string, std::string>& notes, const std::string& key, const std::string& sentence);

// Adds the run, or leaves the record out with the reason: no measured value is left, or check_plan refuses the
// plan. Without a generation or training task the iteration's time is dropped, with a note.
void add_measured_iteration(Imported& imported, MeasuredIteration iteration);

}  // namespace sextant::inline calibrate
