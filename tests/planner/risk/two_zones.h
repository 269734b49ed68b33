// Two plans; the faster one depends on a slow link.
#pragma once

#include <vector>

#include "sextant/planner.h"
#include "sextant/predict.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {

// Puts every task on these devices, with one replica on each.
inline Plan on_each(const Workflow& workflow, const std::vector<int>& devices) {
  TaskPlan layout;
  for (const int device : devices)
    layout.replicas.push_back({1.0 / static_cast<double>(devices.size()), {{32, {DeviceId{device}}}}});
  layout.micro_batch_sequences = 4;
  Plan plan;
  for (const Task& task : workflow.tasks) plan.tasks[task.name] = layout;
  return plan;
}

// Two machines in two zones. All devices take less time than one machine, unless the link between the zones is
// so slow that the reduction of gradients over it costs more than half of the work.
struct TwoZones {
  Cluster cluster = cluster_of({{"a100", 1, 4}, {"a100", 1, 4, "z2"}});
  Workflow workflow = ppo_8b();
  Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  Plan far, near;

  TwoZones() {
    workflow.prompts = 4096;
    workflow.mini_batches = 1;
    far = on_each(workflow, {0, 1, 2, 3, 4, 5, 6, 7});
    near = on_each(workflow, {0, 1, 2, 3});
  }
  TwoZones(const TwoZones&) = delete;
  TwoZones& operator=(const TwoZones&) = delete;
  ~TwoZones() = default;

  [[nodiscard]] double time_s(const Plan& plan, const Workflow& of, const Cluster& on) const {
    return predict(on, of, plan, coefficients, kAny).iteration_s;
  }
};

}  // namespace sextant::test
