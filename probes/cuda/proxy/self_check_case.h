// The small models, sequences and plans on which a GPU's tasks are compared with the CPU's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/cuda/proxy/gpu.h"
#include "probes/proxy/task_work.h"

namespace sextant::gpu {

struct CheckedShape {
  int dim = 64;
  int heads = 4;
  int kv_heads = 2;
};

// The layout of a task over the ranks; ranks beyond it have no part.
struct CheckedLayout {
  int replicas = 1;
  int stages = 1;
  int width = 1;  // width of a stage: tensor parallelism
  int first = 0;  // first rank
  [[nodiscard]] int ranks() const { return replicas * stages * width; }
  [[nodiscard]] std::vector<Replica> expand() const;
};

// Uses lengths that are not multiples of anything, and some equal ones.
[[nodiscard]] Workflow checked_workflow(const CheckedShape& shape, Precision precision);

// One task without a session. Collective over the ranks.
struct TaskAlone {
  static constexpr unsigned kSeed = 5;
  TaskAlone(Communicator& ranks, const CheckedShape& shape, Precision precision, const std::string& task,
            const CheckedLayout& layout, const TaskPlan& changes);
  [[nodiscard]] proxy::TaskSetup setup() {
    return {world, workflow, workflow.task(name), plan, workload, *group, 0, kSeed};
  }
  [[nodiscard]] bool is_mine() const { return group->takes_part(); }

  Communicator& world;
  Workflow workflow;
  std::string name;
  TaskPlan plan;
  proxy::Workload workload;
  std::unique_ptr<proxy::TaskGroup> group;
};

// Returns tokens and advantages, the same on all ranks.
[[nodiscard]] proxy::Rollout random_rollout(const TaskAlone& task);

[[nodiscard]] std::vector<float> on_host(const DeviceArray<Bf16>& device, std::size_t first, std::size_t count);

}  // namespace sextant::gpu
