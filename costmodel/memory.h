// Memory of a plan (HetRL constraint C3): on every device the largest working set of one task plus the model
// states of all tasks that live there must fit.
//
// Model states, bytes a parameter: the weights at the workflow's precision; for training also gradients in the
// same precision and Adam's state in fp32 (two moments, and a master copy when weights are not fp32). This
// is the usual 16 bytes of mixed precision (2 + 2 + 12) and 16 of plain fp32 (4 + 4 + 8).
// Working sets: activations of the micro-batches in flight (one for inference; in training as many as stages
// follow, at most nm), the KV cache of the sequences that decode together at full length, and the logits of
// one micro-batch. Activation elements of a layer follow Korthikanti et al. (2022), section 4, counted in
// elements for a gated MLP: hidden-sized tensors are kept whole, split tensors divided by TP; with
// recomputation only the layer's input is kept.
#pragma once

#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant {

// Of one device in one task.
struct TaskMemory {
  DeviceId device;
  double resident_bytes = 0;
  double working_bytes = 0;
};

[[nodiscard]] std::vector<TaskMemory> task_memory(const Task& task, const TaskPlan& plan,
                                                  const Workflow& workflow);

// Every device of the cluster that the plan uses, ascending.
[[nodiscard]] std::vector<DeviceMemory> plan_memory(const Workflow& workflow, const Plan& plan,
                                                    const Cluster& cluster);

}  // namespace sextant
