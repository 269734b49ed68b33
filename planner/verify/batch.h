// The batch of a replica: its sequences, micro-batches and decode batch. The rules are those that
// costmodel/problem/work.h states, implemented separately.
#pragma once

#include <vector>

#include "planner/verify/planned_task.h"

namespace sextant::inline planner {

// Tokens of a sequence: the maximum of a length distribution (HetRL B.1), the mean if packed, the expected
// longest of the iteration if batches are padded to their longest; with the output of tools in all turns.
struct SequenceTokens {
  double prompt = 0;
  double response = 0;
  double observed = 0;
  [[nodiscard]] double all() const { return prompt + response + observed; }
};

[[nodiscard]] SequenceTokens sequence_tokens(const PlannedTask& task);

// Sequences: the batch shares of a task as integers that sum to the global batch: the integer part of each
// exact share, then one more for the largest remainders, the first ones on ties. Tokens: over all
// sequences, or over those of a rank if the batch is split by length; a replica has their mean or pads to
// the maximum.
[[nodiscard]] TaskBatch batch_of(const PlannedTask& task);

// Tokens of a sequence of one replica; requires the task's batch.
[[nodiscard]] double own_tokens(const PlannedTask& task, const Replica& replica);

// Maximum tokens of a micro-batch if the plan states a budget: the budget per device times the devices that
// split a sequence, or the budget of all of them (semantics.h). 0: sizes are in sequences.
[[nodiscard]] double token_budget(const PlannedTask& task);

// The micro-batches of one mini-batch (the whole batch unless the task trains), which has `sequences` in the
// mean. Memory holds whole sequences: the largest micro-batch is a full one if the plan states a size or a
// token budget, and the largest of an even split if the plan states the number of micro-batches.
struct MicroBatches {
  double sequences = 0;                                           // in the mini-batch
  double count = 0;                                               // in the framework's counting
  double pieces = 1;                                              // per micro-batch, for the pipeline
  double largest_sequences = 0;                                   // in one piece
  [[nodiscard]] double passes() const { return count * pieces; }  // through a pipeline stage
};

[[nodiscard]] MicroBatches micro_batches(const PlannedTask& task, const Replica& replica, double sequences);

// The decode batches of generation. Groups of sequences are in different pipeline stages at the same time: places
// that are refilled are divided into as many groups as there are stages, otherwise whole batches are groups.
struct DecodeBatch {
  double step_sequences = 0;  // in one step of a stage
  double cached_tokens = 0;   // maximum in the KV cache, of all groups
  double cached_sequences = 0;
};

[[nodiscard]] DecodeBatch decode_batch(const PlannedTask& task, const Replica& replica, double sequences);

// KV cache of one sequence with `tokens` on one device of a stage, in bytes. A device stores at least one
// key-value head; the compressed vector of latent attention is on every device of a tensor-parallel
// group.
[[nodiscard]] double cache_bytes(const PlannedTask& task, const Stage& stage, double tokens, double sequences);

}  // namespace sextant::inline planner
