// What a framework means by a knob of the same name, so that a plan can be written in the framework's own
// numbers. A plan names its semantics; the formulas see only what follows from them.
//
// ReaL (seed 001, and its source): a training call cuts each of its micro-batches into 2 x PP pipeline
// micro-batches, a generation or inference call cuts its batch into PP, so that pipelines are full.
//
// Megatron-LM (Narayanan et al. 2021, section 4.1) and DeepSpeed's pipeline engine: each member of a
// tensor-parallel group sends its part of the activations to the next stage, where they are gathered. Megatron
// Core's experts are products of Transformer Engine, which launches that of each expert by itself.
//
// A budget of tokens a micro-batch is a device's in verl (ppo_max_token_len_per_gpu, multiplied by the sequence
// parallelism where sequences are dealt) and in plain plans; NeMo RL fills bins of whole sequences
// (train_micro_batch_size times max_total_sequence_length), which a context-parallel group then splits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct Semantics {
  std::string_view name;
  int training_split_per_stage;  // pipeline micro-batches that one micro-batch of training becomes, a stage
  int forward_split_per_stage;   // same for inference and generation; 0: not cut
  bool scatters_to_next_stage;   // the members of a tensor-parallel group share the transfer between stages
  bool launches_experts_apart;   // grouped products of training are one kernel an expert
  bool budgets_whole_sequences;  // a micro-batch's budget of tokens is that of a context-parallel group
  std::string_view help;
};

[[nodiscard]] std::span<const Semantics> semantics_table();
[[nodiscard]] const Semantics& semantics_of(std::string_view name);  // must exist
[[nodiscard]] std::vector<std::string_view> semantics_names();

}  // namespace sextant
