// Level 4 of HetRL's search (section 3.2): the shapes of a task on a given number of devices.
#pragma once

#include <vector>

#include "planner/request/candidate.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

struct ShapeLimits {
  std::vector<int> micro_batch_sequences{1, 2, 4, 8, 16};
  bool try_recompute = false;      // training with and without recomputation
  int tensor_parallel_limit = 64;  // devices of a machine: wider stages cross its slow links
  int pipeline_parallel_limit = 64;
  std::vector<TaskChoices> choices = {};  // by task; empty: the default of all
  MemoryRange memory = {};                // of the cluster's devices; it limits the decode batches
};

// True if a model's matrices can be split into `tensor_parallel` parts: heads, key-value heads, intermediate
// size and vocabulary.
[[nodiscard]] bool can_cut(const Model& model, int tensor_parallel);

// Every dp * pp * tp * cp = `devices` that the model, the batch and the task's choices allow, with layers and
// batch split evenly, in every execution, with each micro-batch size that some replica's share can fill. Empty
// if there is none. The task must be one of the workflow's.
[[nodiscard]] std::vector<Shape> shapes_of(const Task& task, const Workflow& workflow, int devices,
                                           const ShapeLimits& limits);

// The distinct micro-batch sizes, in sequences and ascending, that a replica with `share` sequences can fill: a larger
// one is the same as all of them.
[[nodiscard]] std::vector<int> sizes_within(int share, const std::vector<int>& wanted);

}  // namespace sextant::inline planner
