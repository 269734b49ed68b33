// Cost of one iteration (HetRL B.4): the closed forms of synchronous and asynchronous PPO and GRPO.
//
//   Phi({C}) = max C + (1 - eta) (sum C - max C)
//   SyncPPO   = C1 + Phi({C2, C3, C4}) + Phi({C5, C6}) + C_reshard
//   AsyncPPO  = max(C1, Phi({C2, C3, C4}) + Phi({C5, C6})) + C_sync
//   SyncGRPO  = C1 + Phi({C2, C3}) + C5 + C_reshard
//   AsyncGRPO = max(C1, Phi({C2, C3}) + C5) + C_sync
//
// A graph without a reference omits C3; old_log_prob, inference of the actor, is one more task of the first
// Phi.
//
// C_sync and C_reshard are the transfer of the actor's weights to generation. Weights that another task uses
// elsewhere (a critic's in its evaluation) move at the same time. A transfer begins when its devices are free, so
// a longer training on other devices hides a part of it (weight_transfers.h).
//
// Transfers of data between tasks (data_edges.h) are added; the appendix has none, which is
// Workflow::data_bytes_per_token 0. One controller makes them, one after another.
//
// Decisions: the appendix's GRPO lines write C^6 and mean the actor's training, C^5. A synchronous plan
// whose generation has devices of its own pays C_sync in place of C_reshard; an asynchronous plan whose
// generation shares devices with other tasks cannot overlap them and pays the sum. Tasks of one Phi that share
// a device wait for each other, so its max is the makespan of their simulation (timeline.h): the sum where all
// share devices, the largest where none do, and between these where only some do.
// One-step-off is the asynchronous form. Streaming (verl's fully asynchronous trainer): with a staleness s < 1
// generation makes s of a batch ahead, and training takes a batch in c parts, each when it is ready. Generation
// G and the rest R then take
//   max(G, R + (1/c - s)+ G, (1 - s)+ G + R/c):
// the slower of both; all of training after its first part is ready; the last part of training after all are
// ready. s >= 1 is the asynchronous form, s = 0 with c = 1 the synchronous one. Other graphs ("custom")
// are simulated whole, with the same eta.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/data_edges.h"
#include "costmodel/task.h"
#include "costmodel/timeline.h"
#include "costmodel/weight_transfers.h"

namespace sextant::inline costmodel {

// Phi: with eta 1 the makespan of tasks that overlap if they can, with eta 0 their sum.
template <typename T>
[[nodiscard]] T overlapped_s(const std::vector<TimedTask<T>>& tasks, const T& eta) {
  const T makespan = makespan_s(simulate_timeline(tasks));
  T sum(0.0);
  for (const TimedTask<T>& task : tasks) sum += task.duration_s;
  return makespan + (1.0 - eta) * (sum - makespan);
}

// A task's cost, the devices that it occupies, and for custom graphs the positions of its parents.
template <typename T>
struct PlacedTask {
  TaskKind kind = TaskKind::inference;
  T time_s = T(0.0);
  const std::set<DeviceId>* devices = nullptr;
  std::vector<int> after = {};
};

// Whether generation overlaps with the rest: the mode is not synchronous, and it has devices of its own.
[[nodiscard]] bool generation_overlaps(Mode mode, const std::set<DeviceId>& generation,
                                       const std::vector<const std::set<DeviceId>*>& others);

template <typename T>
[[nodiscard]] bool generation_overlaps(Mode mode, std::span<const PlacedTask<T>> tasks) {
  const std::set<DeviceId>* generating = nullptr;
  std::vector<const std::set<DeviceId>*> others;
  for (const PlacedTask<T>& task : tasks) {
    if (task.kind == TaskKind::generation) {
      generating = task.devices;
    } else {
      others.push_back(task.devices);
    }
  }
  return generating != nullptr && !others.empty() && generation_overlaps(mode, *generating, others);
}

// Positions of a task's parents in the workflow.
[[nodiscard]] std::vector<int> parents_of(const Workflow& workflow, const Task& task);

// Phi over the tasks of one kind.
template <typename T>
[[nodiscard]] T phase_s(std::span<const PlacedTask<T>> tasks, TaskKind kind, const T& eta) {
  std::vector<TimedTask<T>> phase;
  for (const PlacedTask<T>& task : tasks) {
    if (task.kind == kind) phase.push_back({task.time_s, task.devices, {}});
  }
  if (phase.empty()) return T(0.0);
  if (phase.size() == 1) return phase.front().duration_s;
  return overlapped_s(phase, eta);
}

template <typename T>
[[nodiscard]] T longer(const T& a, const T& b) {
  return a < b ? b : a;
}

// The time of generation and the rest on separate devices, overlapped as far as the workflow allows.
template <typename T>
[[nodiscard]] T streamed_s(const Workflow& workflow, const T& generation, const T& rest) {
  const double ahead = workflow.staleness, part = 1.0 / workflow.streamed_parts;
  const T first_part = rest + std::max(0.0, part - ahead) * generation;
  const T last_part = std::max(0.0, 1.0 - ahead) * generation + part * rest;
  return longer(generation, longer(first_part, last_part));
}

// Work whose generation is apart from the rest, or a part of it.
template <typename T>
[[nodiscard]] Work<T> work_of_sides(const Workflow& workflow, const T& generation, const T& rest,
                                    bool overlaps) {
  if (overlaps) return {streamed_s(workflow, generation, rest), rest, generation};
  return {generation + rest, generation + rest, T(0.0)};
}

// The closed form without weight sync: C1 + Phi + Phi, or the larger side of an asynchronous plan.
template <typename T>
[[nodiscard]] Work<T> closed_form_work(const Workflow& workflow, std::span<const PlacedTask<T>> tasks,
                                       const T& eta) {
  const T generation = phase_s(tasks, TaskKind::generation, eta);
  const T rest = phase_s(tasks, TaskKind::inference, eta) + phase_s(tasks, TaskKind::training, eta);
  return work_of_sides(workflow, generation, rest, generation_overlaps(workflow.mode, tasks));
}

// The tasks of any graph as its simulation takes them. Generation that overlaps works on another batch: no task
// here waits for it.
template <typename T>
[[nodiscard]] std::vector<TimedTask<T>> simulated_graph(std::span<const PlacedTask<T>> tasks, bool overlaps) {
  std::vector<TimedTask<T>> simulated;
  for (const PlacedTask<T>& task : tasks) {
    const bool apart = overlaps && task.kind == TaskKind::generation;
    simulated.push_back({apart ? T(0.0) : task.time_s, task.devices, task.after});
  }
  return simulated;
}

// Same as closed_form_work for any graph.
template <typename T>
[[nodiscard]] Work<T> graph_work(const Workflow& workflow, std::span<const PlacedTask<T>> tasks, const T& eta) {
  const bool overlaps = generation_overlaps(workflow.mode, tasks);
  T generation(0.0);
  for (const PlacedTask<T>& task : tasks) {
    if (overlaps && task.kind == TaskKind::generation) generation = longer(generation, task.time_s);
  }
  return work_of_sides(workflow, generation, overlapped_s(simulated_graph(tasks, overlaps), eta), overlaps);
}

// Seconds of rule-based rewards for all generated sequences after generation. Those beside generation are a part of its
// time (terms/overhead.h).
[[nodiscard]] inline double rule_reward_s(const Workflow& workflow) {
  if (workflow.rollout.has_rewards_beside) return 0;
  const double generated = workflow.sequences() * rollout_batch(workflow).generated;
  return workflow.rule_reward_s_per_sequence * std::max(1.0, generated / workflow.rollout.reward_workers);
}

// The time of an RL framework's controller between the tasks of an iteration, once and for every sequence. The
// time of a task call (call_overhead_s) is part of the task's own time.
template <typename T>
[[nodiscard]] T controller_s(const Workflow& workflow, const CoefficientValues<T>& coefficients) {
  if (!workflow.has_controller()) return T(0.0);
  const double sequences = workflow.sequences();
  return coefficients.at(CoefficientId::iteration_overhead_s) +
         sequences * coefficients.at(CoefficientId::sequence_overhead_s);
}

// The cost of an iteration in addition to its tasks and weight sync.
template <typename T>
[[nodiscard]] T iteration_overhead_s(const Workflow& workflow, const CoefficientValues<T>& coefficients) {
  return rule_reward_s(workflow) + controller_s(workflow, coefficients);
}

// An iteration's tasks: the closed form, or the simulation of another graph.
template <typename T>
[[nodiscard]] Work<T> work_of_tasks(const Workflow& workflow, std::span<const PlacedTask<T>> tasks,
                                    const T& eta) {
  return workflow.algorithm == Algorithm::custom ? graph_work(workflow, tasks, eta)
                                                 : closed_form_work(workflow, tasks, eta);
}

// The tasks in whose simulation transfers of weights have their place: all of a custom graph, the trainings of
// another.
template <typename T>
struct LastTasks {
  std::vector<const std::set<DeviceId>*> devices;
  std::vector<TimedSpan<T>> spans;
};

template <typename T>
[[nodiscard]] LastTasks<T> last_tasks(const Workflow& workflow, std::span<const PlacedTask<T>> tasks) {
  std::vector<TimedTask<T>> simulated;
  if (workflow.algorithm == Algorithm::custom) {
    simulated = simulated_graph(tasks, generation_overlaps(workflow.mode, tasks));
  } else {
    for (const PlacedTask<T>& task : tasks) {
      if (task.kind == TaskKind::training) simulated.push_back({task.time_s, task.devices, {}});
    }
  }
  LastTasks<T> last;
  for (const TimedTask<T>& task : simulated) last.devices.push_back(task.devices);
  last.spans = simulate_timeline(simulated);
  return last;
}

// The part of the transfers' time that tasks hide (weight_transfers.h).
template <typename T>
[[nodiscard]] T hidden_s(const Workflow& workflow, const Work<T>& work, std::span<const PlacedTask<T>> tasks,
                         const std::vector<WeightTransfer<T>>& transfers, const T& eta) {
  if (transfers.empty()) return T(0.0);
  const LastTasks<T> last = last_tasks(workflow, tasks);
  if (last.spans.size() < 2) return T(0.0);
  const T end = makespan_s(last.spans);
  const auto idle_s = [&](std::size_t k) {
    const WeightUse& use = transfers[k].use;
    T free(0.0);
    for (std::size_t t = 0; t < last.spans.size(); ++t) {
      const bool waits = share_a_device(*last.devices[t], *tasks[use.trained].devices) ||
                         share_a_device(*last.devices[t], *tasks[use.used].devices);
      if (waits && free < last.spans[t].end_s) free = last.spans[t].end_s;
    }
    return T(end - free);
  };
  return hidden_s(workflow, work, transfers, eta, idle_s);
}

// Tasks and transfers of weights, without data between tasks and overheads.
template <typename T>
[[nodiscard]] T work_and_weights_s(const Workflow& workflow, std::span<const PlacedTask<T>> tasks,
                                   const std::vector<WeightTransfer<T>>& transfers, const T& eta) {
  const Work<T> work = work_of_tasks(workflow, tasks, eta);
  return work.total_s + longest_s(transfers) - hidden_s(workflow, work, tasks, transfers, eta);
}

template <typename T>
struct IterationCost {
  std::vector<TaskCost<T>> tasks;     // in the order of workflow.tasks
  std::vector<PlacedTask<T>> placed;  // the same tasks as inputs of the iteration's form
  std::vector<WeightTransfer<T>> transfers;
  T weight_sync_s = T(0.0);  // the longest transfer
  T hidden_s = T(0.0);       // the part of it that tasks hide
  T data_s = T(0.0);         // data transfers between tasks
  T iteration_s = T(0.0);
};

// The time that a task adds to its iteration: zero if it overlaps with longer ones. For generation, this is the
// time that a trainer waits for samples from other devices.
template <typename T>
[[nodiscard]] T exposed_s(const Problem<T>& problem, const IterationCost<T>& cost, std::size_t task) {
  const T& eta = problem.coefficient(CoefficientId::task_overlap);
  std::vector<PlacedTask<T>> without = cost.placed;
  without[task].time_s = T(0.0);
  const std::span<const PlacedTask<T>> with(cost.placed), others(without);
  const Workflow& workflow = problem.workflow;
  const Work<T> all = work_of_tasks(workflow, with, eta), rest = work_of_tasks(workflow, others, eta);
  return all.total_s - rest.total_s - (cost.hidden_s - hidden_s(workflow, rest, others, cost.transfers, eta));
}

// Returns start and end of every task in one iteration. Generation that overlaps works on the next batch: no
// task of this one waits for it.
template <typename T>
[[nodiscard]] std::vector<TimedSpan<T>> task_spans(const Workflow& workflow,
                                                   std::span<const PlacedTask<T>> placed) {
  const bool overlaps = generation_overlaps(workflow.mode, placed);
  std::vector<TimedTask<T>> tasks;
  for (std::size_t t = 0; t < placed.size(); ++t) {
    TimedTask<T> task{placed[t].time_s, placed[t].devices, {}};
    for (const int parent : parents_of(workflow, workflow.tasks[t])) {
      const bool is_generation = placed[static_cast<std::size_t>(parent)].kind == TaskKind::generation;
      if (!(overlaps && is_generation)) task.after.push_back(parent);
    }
    tasks.push_back(std::move(task));
  }
  return simulate_timeline(tasks);
}

// works: of the problem's tasks, in their order (works_of).
template <typename T>
[[nodiscard]] IterationCost<T> iteration_cost(const Problem<T>& problem, std::span<const TaskWork> works) {
  const Workflow& workflow = problem.workflow;
  const bool is_custom = workflow.algorithm == Algorithm::custom;
  IterationCost<T> cost;
  for (const TaskWork& work : works) {
    cost.tasks.push_back(task_cost(problem, work));
    std::vector<int> after = is_custom ? parents_of(workflow, *work.task) : std::vector<int>{};
    cost.placed.push_back({work.kind(), cost.tasks.back().time_s, &work.devices, std::move(after)});
  }
  const auto work_of = [&](std::size_t t) -> const TaskWork& { return works[t]; };
  cost.transfers = plan_weight_transfers(problem, work_of);
  cost.weight_sync_s = longest_s(cost.transfers);
  cost.data_s = plan_data_s(problem, work_of);
  const T& eta = problem.coefficient(CoefficientId::task_overlap);
  const std::span<const PlacedTask<T>> placed(cost.placed);
  const Work<T> work = work_of_tasks(workflow, placed, eta);
  cost.hidden_s = hidden_s(workflow, work, placed, cost.transfers, eta);
  cost.iteration_s = work.total_s + cost.weight_sync_s - cost.hidden_s + cost.data_s +
                     iteration_overhead_s(workflow, problem.coefficients);
  return cost;
}

template <typename T>
[[nodiscard]] IterationCost<T> iteration_cost(const Problem<T>& problem) {
  const std::vector<TaskWork> works = works_of(problem.workflow, problem.plan, problem.cluster());
  return iteration_cost(problem, std::span<const TaskWork>(works));
}

}  // namespace sextant::inline costmodel
