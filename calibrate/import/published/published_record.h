// Records of published RL iterations from data/public/rl/runs.json, parsed strictly and not yet checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/json.h"

namespace sextant {

// The layout of one task. Absent members are not stated by the source.
struct PublishedTask {
  std::optional<int> gpus, tp, pp, dp, cp, ep, etp, ulysses_sp;
  std::optional<int> layers_first_stage, layers_last_stage;
  std::optional<int> micro_batch_size;         // sequences per replica
  std::optional<int> micro_batch_size_global;  // sequences of all replicas
  std::optional<int> micro_batches;
  std::optional<int> max_tokens_per_micro_batch;
  std::optional<int> max_num_seqs, max_batched_tokens;
  std::optional<double> gpu_memory_utilization;
  std::optional<double> optimizer_offload_fraction;
  bool param_offload = false;
  bool optimizer_offload = false;
  std::string strategy;     // "FSDP2"
  std::string device_mesh;  // ReaL: "trainer[01-16]", of nodes
  std::string text;         // the member's text, to find equal layouts
};

struct PublishedSample {
  std::optional<double> iteration_s;
  std::map<std::string, double> tasks_s;
};

struct PublishedRecord {
  std::string id;
  std::string source;
  std::string grade;
  std::string remarks;
  std::vector<std::string> missing;  // as the record lists it
  std::string repeated_in;           // another file that has the complete measurement

  std::optional<std::string> gpu;
  std::optional<double> peak_tflops;  // the peak by which its framework divides to log MFU
  std::optional<int> gpus, nodes, gpus_per_node;

  std::string algorithm, synchrony, framework, train_backend, rollout_backend, dataset;
  std::map<std::string, std::string> models;  // by role
  std::optional<int> prompts, responses_per_prompt, sequences, minibatches, minibatch_prompts;
  std::vector<int> sequence_candidates;                  // if the source is ambiguous
  std::optional<double> prompt_tokens, response_tokens;  // mean per sequence
  std::optional<double> prompt_tokens_mean, response_tokens_mean, total_tokens_mean;
  std::optional<double> max_prompt_tokens, max_response_tokens, max_total_tokens;
  std::optional<double> staleness_steps, staleness_threshold;
  std::optional<int> parts_of_step, required_mini_batches;  // for verl's fully asynchronous trainer
  std::string train_precision, generation_precision;
  std::optional<bool> packing, recompute, cuda_graph;
  std::string partial_recompute;  // "20 blocks"
  int lora_rank = 0;
  bool param_offload = false;
  bool optimizer_offload = false;
  bool is_padded = false;
  std::string workload_text;  // without cuda_graph, to find equal workloads

  std::map<std::string, PublishedTask> plan;
  std::optional<double> iteration_s;
  std::map<std::string, double> tasks_s;
  std::vector<PublishedSample> samples;
  std::vector<double> cumulative_s;  // wall time after 100, 200 ... steps

  // A record of training alone may state only the mean of whole sequences.
  [[nodiscard]] bool has_totals_only() const {
    return total_tokens_mean && !response_tokens_mean && !response_tokens;
  }
};

// {"schema": "sextant.published.runs/1", "about": ..., "count": N, "records": [...]}. Throws Error(bad_input)
// naming the JSON path of what is wrong.
[[nodiscard]] std::vector<PublishedRecord> parse_published_records(const JsonView& view);

}  // namespace sextant
