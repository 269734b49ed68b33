// What the two-phase planner asks of the calibrated model: the cost of one task laid out in any way, and of an
// iteration put together from such tasks.
//
// A Plan may cut replicas of one task unlike (AReaL-Hex, section 4.2.2: configurations of different width on
// different GPUs), and stages of one replica unlike (section 4.2.1). The evaluator's candidates (planner/
// evaluate) cannot, so tasks are costed here as costmodel/task.h and iteration.h do it; an iteration put
// together from them equals predict's to rounding (tested).
#pragma once

#include <memory>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/memory.h"
#include "planner/evaluate/task_model.h"
#include "sextant/planner.h"

namespace sextant {

// One way to run one task. Neither copied nor moved: `work` refers to `plan`.
struct Choice {
  TaskPlan plan;
  TaskWork work;
  double time_s = 0;
  std::vector<TaskMemory<double>> memory;  // of every device that it uses
  double resident_fraction = 0;            // most of any device's room
  double working_fraction = 0;
  double need_fraction = 0;  // of both together
  double sync_s = 0;  // of the actor: this side's part of weight synchronization, whatever the other side is

  Choice() = default;
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;
};
using ChoicePtr = std::shared_ptr<const Choice>;

// By task of the workflow; null where a task has none yet.
using Choices = std::vector<ChoicePtr>;

class Costing {
 public:
  // The request must outlive it. workflow: the request's, or that with other lengths. Throws Error(bad_input)
  // where a device has no rate for the workflow's precision.
  Costing(const PlanRequest& request, Workflow workflow);
  Costing(const Costing&) = delete;
  Costing& operator=(const Costing&) = delete;

  [[nodiscard]] const PlanRequest& request() const { return request_; }
  [[nodiscard]] const Cluster& cluster() const { return request_.cluster; }
  [[nodiscard]] const Workflow& workflow() const { return workflow_; }
  [[nodiscard]] const Problem<double>& frame() const { return *sync_problem_; }
  [[nodiscard]] int task_count() const { return static_cast<int>(workflow_.tasks.size()); }
  [[nodiscard]] const Task& task(int t) const { return workflow_.tasks[static_cast<std::size_t>(t)]; }
  // The default of its choices, which is the only one that this planner tries.
  [[nodiscard]] const Execution& execution(int t) const {
    return choices_for(request_.choices, static_cast<std::size_t>(t)).executions.front();
  }
  [[nodiscard]] const TaskModel& model(int t) const { return models_[static_cast<std::size_t>(t)]; }

  // Bytes of a device that tasks may take.
  [[nodiscard]] double free_memory_bytes(DeviceId device) const {
    return rooms_[static_cast<std::size_t>(device.value)];
  }

  [[nodiscard]] ChoicePtr cost(int task, TaskPlan plan) const;

  // Of the plan's first replica alone, without reductions and the optimizer: no more than the task's, where
  // replicas are cut alike and the task is separable (TaskModel), and much sooner known. With the plan's own
  // execution options.
  [[nodiscard]] double first_replica_s(int task, const TaskPlan& plan) const;

  // Of one replica of a task, wherever they are: what all its devices together hold at least.
  [[nodiscard]] double state_bytes(int task) const;

  // Of an iteration without weight synchronization; tasks without a choice take no time.
  [[nodiscard]] double working_s(const Choices& choices) const;
  // Weights and data on their way between tasks.
  [[nodiscard]] double moved_s(const Choices& choices) const;
  // The whole: equals predict's.
  [[nodiscard]] double iteration_s(const Choices& choices) const;
  // By which the fullest device is too small; negative where all have room. Tasks without a choice need none.
  [[nodiscard]] double excess_bytes(const Choices& choices) const;

  [[nodiscard]] Plan plan_of(const Choices& choices) const;

 private:
  const PlanRequest& request_;
  Workflow workflow_;
  Plan sync_plan_;
  std::unique_ptr<const Problem<double>> sync_problem_;
  std::vector<TaskModel> models_;  // by task
  std::vector<double> rooms_;      // by device
};

// The devices' numbers as ids.
[[nodiscard]] std::vector<DeviceId> device_ids(const std::vector<std::uint16_t>& devices);

}  // namespace sextant
