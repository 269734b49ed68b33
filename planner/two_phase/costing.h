// The calibrated model for the two-phase planner: the cost of one task in any layout, and of an iteration
// composed of such tasks.
//
// In a Plan the replicas of one task may differ in their partitioning (AReaL-Hex, section 4.2.2: configurations
// of different width on different GPUs), and so may the stages of one replica (section 4.2.1). The candidates
// of planner/evaluate cannot represent this, so tasks are costed here as in costmodel/task.h and iteration.h.
// An iteration composed of them equals predict's to rounding (tested).
#pragma once

#include <memory>
#include <vector>

#include "costmodel/iteration.h"
#include "costmodel/problem/problem.h"
#include "costmodel/terms/memory.h"
#include "planner/evaluate/task_model.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// One way to run one task. Not copyable or movable, because `work` refers to `plan`.
struct Choice {
  TaskPlan plan;
  TaskWork work;
  double time_s = 0;
  std::vector<TaskMemory<double>> memory;  // for every device that it uses
  double resident_fraction = 0;            // maximum share of a device's free memory
  double working_fraction = 0;
  double need_fraction = 0;  // of both together
  double sync_s = 0;         // actor: this side's part of the weight sync, independent of the other side

  Choice() = default;
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;
};
using ChoicePtr = std::shared_ptr<const Choice>;

// Choices by task of the workflow; null for a task without a choice yet.
using Choices = std::vector<ChoicePtr>;

class Costing {
 public:
  // The request must outlive the object. workflow: the request's, or the same with other lengths. Throws
  // Error(bad_input) if a device has no rate for the workflow's precision.
  Costing(const PlanRequest& request, Workflow workflow);
  Costing(const Costing&) = delete;
  Costing& operator=(const Costing&) = delete;

  [[nodiscard]] const PlanRequest& request() const { return request_; }
  [[nodiscard]] const Cluster& cluster() const { return request_.cluster; }
  [[nodiscard]] const Workflow& workflow() const { return workflow_; }
  [[nodiscard]] const Problem<double>& frame() const { return *sync_problem_; }
  [[nodiscard]] int task_count() const { return static_cast<int>(workflow_.tasks.size()); }
  [[nodiscard]] const Task& task(int t) const { return workflow_.tasks[static_cast<std::size_t>(t)]; }
  // The default of the task's choices, which is the only one that this planner tries.
  [[nodiscard]] const Execution& execution(int t) const {
    return choices_for(request_.choices, static_cast<std::size_t>(t)).executions.front();
  }
  [[nodiscard]] const TaskModel& model(int t) const { return models_[static_cast<std::size_t>(t)]; }

  // Memory of a device that tasks may use, in bytes.
  [[nodiscard]] double free_memory_bytes(DeviceId device) const {
    return rooms_[static_cast<std::size_t>(device.value)];
  }

  [[nodiscard]] ChoicePtr cost(int task, TaskPlan plan) const;

  // Time of the plan's first replica alone, without reductions and the optimizer. It is a lower bound of the
  // task's time if replicas have the same partitioning and the task is separable (TaskModel), and much faster
  // to compute. It uses the plan's own execution options.
  [[nodiscard]] double first_replica_s(int task, const TaskPlan& plan) const;

  // Minimum memory of the states of one replica, summed over its devices, on any devices.
  [[nodiscard]] double state_bytes(int task) const;

  // An iteration without weight synchronization; tasks without a choice take no time.
  [[nodiscard]] double working_s(const Choices& choices) const;
  // The time of transfers of weights and data between tasks, of which none is hidden.
  [[nodiscard]] double moved_s(const Choices& choices) const;
  // The whole iteration, equal to predict's.
  [[nodiscard]] double iteration_s(const Choices& choices) const;
  // Missing memory of the fullest device; negative if all tasks fit. Tasks without a choice need none.
  [[nodiscard]] double excess_bytes(const Choices& choices) const;

  [[nodiscard]] Plan plan_of(const Choices& choices) const;

 private:
  [[nodiscard]] std::vector<PlacedTask<double>> placed(const Choices& choices) const;

  const PlanRequest& request_;
  Workflow workflow_;
  Plan sync_plan_;
  std::unique_ptr<const Problem<double>> sync_problem_;
  std::vector<TaskModel> models_;  // by task
  std::vector<double> rooms_;      // by device
};

// The device numbers as ids.
[[nodiscard]] std::vector<DeviceId> device_ids(const std::vector<std::uint16_t>& devices);

}  // namespace sextant::inline planner
