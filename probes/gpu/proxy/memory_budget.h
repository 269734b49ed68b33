// Device memory that a plan's tasks need on one GPU, computed before any allocation. Plain C++: tested without
// a GPU.
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

// Returns the memory of the tasks on the device, all of which reside there at the same time.
[[nodiscard]] std::vector<TaskBytes> task_bytes(const Workflow& workflow, const Plan& plan,
                                                const proxy::Workload& workload, int device);

// Throws Error(bad_input) with the tasks and their bytes if they need more than `free_bytes`.
void check_memory(const std::vector<TaskBytes>& tasks, double free_bytes);

}  // namespace sextant::gpu
