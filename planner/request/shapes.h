// Level 4 of HetRL's search (section 3.2): the ways to cut a task over so many devices.
#pragma once

#include <vector>

#include "planner/request/candidate.h"
#include "sextant/task_choices.h"
#include "sextant/workflow.h"

namespace sextant {

struct ShapeLimits {
  std::vector<int> micro_batch_sequences{1, 2, 4, 8, 16};
  bool try_recompute = false;      // training with and without recomputation
  int tensor_parallel_limit = 64;  // the devices of a machine: wider stages cross its slow links
  int pipeline_parallel_limit = 64;
  std::vector<TaskChoices> choices = {};  // by task; none: the default of all
  MemoryRange memory = {};                // of the cluster's devices, which decode batches are chosen by
};

// Whether a model's matrices can be cut `tensor_parallel` times: heads, key-value heads, intermediate size and
// vocabulary.
[[nodiscard]] bool can_cut(const Model& model, int tensor_parallel);

// Every dp * pp * tp * cp = `devices` that the model, the batch and the task's choices allow, layers and batch
// dealt evenly, in every execution, with each micro-batch size that a replica's share can fill; no size is cut
// at less. Empty where there is none. The task is one of the workflow's.
[[nodiscard]] std::vector<Shape> shapes_of(const Task& task, const Workflow& workflow, int devices,
                                           const ShapeLimits& limits);

}  // namespace sextant
