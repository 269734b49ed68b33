// Device memory that a plan's tasks need on one GPU, counted before anything is allocated. Plain C++: tested
// without a GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probes/proxy/workload.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::gpu {

struct TaskBytes {
  std::string task;
  double state_bytes = 0;    // weights; in training gradients, master copy and moments too
  double working_bytes = 0;  // activations, KV cache, logits, scratch
};

// Of the tasks in which the device takes part, all of which live there at the same time.
[[nodiscard]] std::vector<TaskBytes> task_bytes(const Workflow& workflow, const Plan& plan,
                                                const proxy::Workload& workload, int device);

// Error(bad_input) naming the tasks and their bytes when they need more than `free_bytes`.
void check_memory(const std::vector<TaskBytes>& tasks, double free_bytes);

}  // namespace sextant::gpu
