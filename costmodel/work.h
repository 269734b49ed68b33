// What a task asks of its replicas, before any hardware is looked at: sequences, tokens, micro-batches.
#pragma once

#include <vector>

#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant {

struct ReplicaWork {
  double sequences = 0;              // nm * mbs: this replica's share of the global batch
  double micro_batches = 0;          // nm, over all mini-batches
  double micro_batch_sequences = 0;  // mbs: mean size, smaller than the plan's when it does not divide
  double decode_waves = 0;           // nm * mbs / dbs; at least 1
};

struct TaskWork {
  const Task* task = nullptr;
  const TaskPlan* plan = nullptr;
  const Model* model = nullptr;
  double prompt_tokens = 0;    // seq_in: the maximum, as in HetRL B.1
  double response_tokens = 0;  // seq_out
  double mini_batches = 1;     // training only
  double element_bytes = 2;    // B_BF16, or the workflow's precision
  std::vector<ReplicaWork> replicas;

  [[nodiscard]] TaskKind kind() const { return task->kind; }
  [[nodiscard]] double sequence_tokens() const { return prompt_tokens + response_tokens; }
};

// Weights of a slice of `layers` layers of a model over all its shards, with the embedding if it is the first
// and the head if it is the last. A tied head on the same slice is the embedding and is not counted twice.
[[nodiscard]] double slice_parameters(const Model& model, int layers, bool is_first, bool is_last);

// The plan must have passed check_plan.
[[nodiscard]] TaskWork work_of(const Task& task, const TaskPlan& plan, const Workflow& workflow);

}  // namespace sextant
