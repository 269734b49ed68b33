// The layouts of one task on a cluster: device subsets, degrees, assignments of devices to shards,
// micro-batch sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "documents/cluster.h"
#include "documents/plan.h"
#include "documents/workflow.h"
#include "planner/request/pins.h"
#include "planner/request/task_choices.h"

namespace sextant {

struct SearchLimits {
  std::vector<int> micro_batch_sequences{1, 2, 4, 8, 16};
  bool try_recompute = false;      // training with and without recomputation
  bool try_uneven_stages = false;  // every way to deal layers to stages, not only the even one
  bool balances_load = true;       // layers and batch shares by speed too (HetRL 4.2, Figure 4; planners.h)
  bool within_unit_space = false;  // of sha-ea without pins: none but exact's plans (exact/unit_space.h)
  int most_units = 0;              // of planners that sweep sizes of sets: 0: as finely as they do
  Pins pins = {};                  // tasks that stay where they are (planners.h: who can keep them there)
  std::uint64_t most_layouts_per_task = 200'000;
  std::uint64_t most_plans = 200'000'000;
};

// Every layout of a task: each non-empty subset of devices, each dp * pp * tp that uses the subset up, each
// assignment of its devices to replicas, stages and shards that differs by more than renaming replicas or
// shards, each execution, decode batch and micro-batch size of its choices. Degrees that the model's heads,
// layers, the batch or the choices forbid are left out.
// Of a task that is pinned the layouts on its devices alone, or the one that it is pinned to.
// Throws Error(bad_input) when there are more than limits.most_layouts_per_task: the space is for small
// clusters (some 8 devices).
[[nodiscard]] std::vector<TaskPlan> task_layouts(const Task& task, const Workflow& workflow,
                                                 const Cluster& cluster, const SearchLimits& limits,
                                                 const TaskChoices& choices = {});

}  // namespace sextant
