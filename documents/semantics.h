// The meaning of options that have the same name in several frameworks, so that a plan can use the framework's
// own numbers. A plan names its semantics; the formulas see only the values derived from them.
//
// ReaL (seed 001, and its source): a training call cuts each of its micro-batches into 2 x PP pipeline
// micro-batches, a generation or inference call cuts its batch into PP, so that pipelines are full.
//
// Megatron-LM (Narayanan et al. 2021, section 4.1) and DeepSpeed's pipeline engine: each member of a
// tensor-parallel group sends its part of the activations to the next stage, which gathers them. Megatron
// Core's experts use products of Transformer Engine, which launches one kernel per expert.
//
// The token budget of a micro-batch is per device in verl (ppo_max_token_len_per_gpu, multiplied by the
// sequence parallelism if sequences are split) and in plain plans. NeMo RL fills bins of whole sequences
// (train_micro_batch_size times max_total_sequence_length), which a context-parallel group then splits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline documents {

struct Semantics {
  std::string_view name;
  int training_split_per_stage;  // pipeline micro-batches per stage for each micro-batch of training
  int forward_split_per_stage;   // same for inference and generation; 0: not split
  bool scatters_to_next_stage;   // tensor-parallel members share the transfer between stages
  bool launches_experts_apart;   // grouped products of training use one kernel per expert
  bool budgets_whole_sequences;  // a micro-batch's token budget is per context-parallel group
  std::string_view help;
};

[[nodiscard]] std::span<const Semantics> semantics_table();
[[nodiscard]] const Semantics& semantics_of(std::string_view name);  // must exist
[[nodiscard]] std::vector<std::string_view> semantics_names();

}  // namespace sextant::inline documents
