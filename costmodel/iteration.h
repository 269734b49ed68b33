// Cost of one iteration (HetRL B.4): the closed forms of synchronous and asynchronous PPO and GRPO.
//
//   Phi({C}) = max C + (1 - eta) (sum C - max C)
//   SyncPPO   = C1 + Phi({C2, C3, C4}) + Phi({C5, C6}) + C_reshard
//   AsyncPPO  = max(C1, Phi({C2, C3, C4}) + Phi({C5, C6})) + C_sync
//   SyncGRPO  = C1 + Phi({C2, C3}) + C5 + C_reshard
//   AsyncGRPO = max(C1, Phi({C2, C3}) + C5) + C_sync
//
// Decisions: the appendix's GRPO lines write C^6 and mean the actor's training, C^5. A synchronous plan
// whose generation has devices of its own pays C_sync in place of C_reshard; an asynchronous plan whose
// generation shares devices with other tasks cannot overlap them and pays the sum. Tasks of one Phi that share
// a device run one after another, so eta applies between groups of tasks that share no device: all on one
// set of devices is eta = 0, all apart is eta = task_overlap.
// One-step-off is the asynchronous form. Other graphs ("custom") are the event simulation, timeline.h.
#pragma once

#include <span>
#include <vector>

#include "costmodel/task.h"
#include "costmodel/terms/weight_sync.h"

namespace sextant {

// eta in [0, 1]; zero for no costs.
template <typename T>
[[nodiscard]] T overlapped_s(std::span<const T> costs, const T& eta) {
  if (costs.empty()) return T(0.0);
  T largest = costs.front(), sum(0.0);
  for (const T& cost : costs) {
    sum += cost;
    if (largest < cost) largest = cost;
  }
  return largest + (1.0 - eta) * (sum - largest);
}

// A task's cost and the devices it keeps busy, which is all that the closed forms look at.
template <typename T>
struct PlacedTask {
  TaskKind kind = TaskKind::inference;
  T time_s = T(0.0);
  const std::set<DeviceId>* devices = nullptr;
};

// Groups of tasks, by position, such that tasks of different groups share no device.
[[nodiscard]] std::vector<std::vector<int>> groups_by_device(
    const std::vector<const std::set<DeviceId>*>& devices);

// Generation runs beside the rest: not synchronous, and on devices of its own.
[[nodiscard]] bool generation_overlaps(Mode mode, const std::set<DeviceId>& generation,
                                       const std::vector<const std::set<DeviceId>*>& others);

// Phi over the tasks of one kind, with the rule for shared devices above.
template <typename T>
[[nodiscard]] T phase_s(std::span<const PlacedTask<T>> tasks, TaskKind kind, const T& eta) {
  std::vector<T> times;
  std::vector<const std::set<DeviceId>*> devices;
  for (const PlacedTask<T>& task : tasks) {
    if (task.kind != kind) continue;
    times.push_back(task.time_s);
    devices.push_back(task.devices);
  }
  if (times.empty()) return T(0.0);
  if (times.size() == 1) return times.front();
  std::vector<T> sums;
  for (const std::vector<int>& group : groups_by_device(devices)) {
    T sum(0.0);
    for (const int member : group) sum += times[static_cast<std::size_t>(member)];
    sums.push_back(sum);
  }
  return overlapped_s(std::span<const T>(sums), eta);
}

// The closed form without weight sync: C1 + Phi + Phi, or the larger side of an asynchronous plan.
template <typename T>
[[nodiscard]] T closed_form_s(Mode mode, std::span<const PlacedTask<T>> tasks, const T& eta) {
  const T generation = phase_s(tasks, TaskKind::generation, eta);
  const T rest = phase_s(tasks, TaskKind::inference, eta) + phase_s(tasks, TaskKind::training, eta);
  const std::set<DeviceId>* generating = nullptr;
  std::vector<const std::set<DeviceId>*> others;
  for (const PlacedTask<T>& task : tasks) {
    if (task.kind == TaskKind::generation) {
      generating = task.devices;
    } else {
      others.push_back(task.devices);
    }
  }
  if (generating == nullptr) return rest;
  if (!generation_overlaps(mode, *generating, others)) return generation + rest;
  return generation < rest ? rest : generation;
}

// What an iteration costs beside its tasks and weight sync.
template <typename T>
[[nodiscard]] T iteration_overhead_s(const Workflow& workflow, const CoefficientValues<T>& coefficients) {
  return workflow.rule_reward_s_per_sequence * workflow.sequences() +
         coefficients.at(CoefficientId::iteration_overhead_s);
}

template <typename T>
struct IterationCost {
  std::vector<TaskCost<T>> tasks;  // in the order of workflow.tasks
  T weight_sync_s = T(0.0);
  T iteration_s = T(0.0);
};

// Zero where a custom workflow has no training or no generation of the actor.
template <typename T>
[[nodiscard]] T plan_weight_sync_s(const Problem<T>& problem, std::span<const TaskWork> works) {
  if (!problem.workflow.has_weight_sync()) return T(0.0);
  const auto work_of_task = [&](const Task& task) -> const TaskWork& {
    return works[static_cast<std::size_t>(&task - problem.workflow.tasks.data())];
  };
  return terms::weight_sync_s(problem, work_of_task(problem.workflow.actor_training()),
                              work_of_task(problem.workflow.actor_generation()));
}

// works: of the problem's tasks, in their order (works_of).
template <typename T>
[[nodiscard]] IterationCost<T> iteration_cost(const Problem<T>& problem, std::span<const TaskWork> works) {
  const Workflow& workflow = problem.workflow;
  IterationCost<T> cost;
  std::vector<PlacedTask<T>> placed;
  for (const TaskWork& work : works) {
    cost.tasks.push_back(task_cost(problem, work));
    placed.push_back({work.kind(), cost.tasks.back().time_s, &work.devices});
  }
  cost.weight_sync_s = plan_weight_sync_s(problem, works);
  cost.iteration_s = closed_form_s(workflow.mode, std::span<const PlacedTask<T>>(placed),
                                   problem.coefficient(CoefficientId::task_overlap)) +
                     cost.weight_sync_s + iteration_overhead_s(workflow, problem.coefficients);
  return cost;
}

template <typename T>
[[nodiscard]] IterationCost<T> iteration_cost(const Problem<T>& problem) {
  const std::vector<TaskWork> works = works_of(problem.workflow, problem.plan, problem.cluster());
  return iteration_cost(problem, std::span<const TaskWork>(works));
}

}  // namespace sextant
