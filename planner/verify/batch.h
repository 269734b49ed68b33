// What a replica works on: its sequences, micro-batches, and what it decodes together. The rules are those that
// costmodel/problem/work.h states, worked out again.
#pragma once

#include <vector>

#include "planner/verify/planned_task.h"

namespace sextant {

// Tokens of a sequence: the longest that a length distribution has (HetRL B.1), the mean where packed; with
// what tools returned in all turns.
struct SequenceTokens {
  double prompt = 0;
  double response = 0;
  double observed = 0;
  [[nodiscard]] double all() const { return prompt + response + observed; }
};

[[nodiscard]] SequenceTokens sequence_tokens(const PlannedTask& task);

// Sequences: the batch shares of a task, rounded to whole sequences that add up to the global batch: the whole
// part of each exact share, then one more to those with the largest remainders, the first ones of equals.
// Tokens: of all sequences, or of those that a rank gets where the batch is split by length, of which a replica
// has the mean or pads to the longest.
[[nodiscard]] TaskBatch batch_of(const PlannedTask& task);

// Tokens of a sequence of one replica. The task must have its batch.
[[nodiscard]] double own_tokens(const PlannedTask& task, const Replica& replica);

// Tokens that a micro-batch may hold, where the plan says: a device's budget times the devices that split a
// sequence, or that of all of them (semantics.h). 0: sizes are in sequences.
[[nodiscard]] double token_budget(const PlannedTask& task);

// Of one mini-batch (the whole batch where the task does not train), which has `sequences` in the mean. Memory
// holds whole ones: the largest micro-batch is a full one where the plan states a size or a budget of tokens,
// and the largest of an even deal where it states how many there are.
struct MicroBatches {
  double sequences = 0;                                           // of the mini-batch
  double count = 0;                                               // as the framework counts them
  double pieces = 1;                                              // that each is cut into for the pipeline
  double largest_sequences = 0;                                   // of one piece
  [[nodiscard]] double passes() const { return count * pieces; }  // through a pipeline stage
};

[[nodiscard]] MicroBatches micro_batches(const PlannedTask& task, const Replica& replica, double sequences);

// Generation.
struct DecodeBatch {
  double places = 0;         // sequences that decode together
  double waves = 1;          // of places, one after another or in different stages of the pipeline
  double cached_tokens = 0;  // in the KV cache for the sequences of one wave, at most
};

[[nodiscard]] DecodeBatch decode_batch(const PlannedTask& task, const Replica& replica, double sequences);

// KV cache of one sequence with so many tokens, of one device of a stage, in bytes. A device keeps at least one
// key-value head; the compressed vector of latent attention is whole on every device of a tensor-parallel
// group.
[[nodiscard]] double cache_bytes(const PlannedTask& task, const Stage& stage, double tokens);

}  // namespace sextant
