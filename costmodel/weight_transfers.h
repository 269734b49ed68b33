// The transfers of an iteration's trained weights to the tasks that use them, as nodes of its simulation (ReaL,
// section 5.1: parameter reallocation is a node of the augmented graph).
//
// A transfer k of s_k seconds begins when the last task on its devices has ended: those of the task that trains
// the weights and of the one that uses them. Transfers run at the same time. With the work W of all tasks and
// eta, the coefficient of Phi (iteration.h),
//   W + C_sync = (1 - eta) (W + max_k s_k) + eta max(W, max_k (b_k + s_k)).
// With eta 0, and where no task runs after another's transfer could begin, this is HetRL's W + max_k s_k. Only
// tasks that run at the same time on devices of their own can hide a transfer: two trainings (PPO), or branches of
// a custom graph. The actor's weights also wait for generation that runs beside the rest; in a stream
// (Workflow::staleness below 1) no transfer begins before the end.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "costmodel/terms/weight_sync.h"

namespace sextant::inline costmodel {

// A task that trains weights and another that uses them, by position in the workflow.
struct WeightUse {
  std::size_t trained = 0;
  std::size_t used = 0;
};

// Returns all weight uses except the actor's training and generation.
[[nodiscard]] std::vector<WeightUse> other_weight_uses(const Workflow& workflow);

template <typename T>
struct WeightTransfer {
  WeightUse use;
  bool is_to_generation = false;  // the actor's
  T time_s = T(0.0);
};

// Returns the transfers of a workflow without their times: the actor's to generation first, if there is one.
template <typename T>
[[nodiscard]] std::vector<WeightTransfer<T>> weight_transfers(const Workflow& workflow) {
  const auto position = [&](const Task& task) {
    return static_cast<std::size_t>(&task - workflow.tasks.data());
  };
  std::vector<WeightTransfer<T>> transfers;
  if (workflow.has_weight_sync()) {
    transfers.push_back(
        {{position(workflow.actor_training()), position(workflow.actor_generation())}, true, T(0.0)});
  }
  for (const WeightUse& use : other_weight_uses(workflow)) transfers.push_back({use, false, T(0.0)});
  return transfers;
}

// Returns the transfers of a plan. work_of(task): the TaskWork of the task at that position.
template <typename T, typename WorkOf>
[[nodiscard]] std::vector<WeightTransfer<T>> plan_weight_transfers(const Problem<T>& problem, WorkOf work_of) {
  std::vector<WeightTransfer<T>> transfers = weight_transfers<T>(problem.workflow);
  for (WeightTransfer<T>& transfer : transfers) {
    const TaskWork &trained = work_of(transfer.use.trained), &used = work_of(transfer.use.used);
    transfer.time_s = transfer.is_to_generation ? terms::weight_sync_s(problem, trained, used)
                                                : terms::used_elsewhere_s(problem, trained, used);
  }
  return transfers;
}

// max_k s_k: C_sync if nothing hides a part of it. Zero without transfers.
template <typename T>
[[nodiscard]] T longest_s(const std::vector<WeightTransfer<T>>& transfers) {
  T longest(0.0);
  for (const WeightTransfer<T>& transfer : transfers) {
    if (longest < transfer.time_s) longest = transfer.time_s;
  }
  return longest;
}

// The work W of an iteration.
template <typename T>
struct Work {
  T total_s = T(0.0);
  T rest_s = T(0.0);    // all tasks, or those besides generation that overlaps with them
  T beside_s = T(0.0);  // generation that overlaps; zero if none does
};

// The part of max_k s_k that is hidden: W + max_k s_k - (W + C_sync) above. idle_s(k): seconds from the end of the
// last task on the devices of transfer k to the end of work.rest_s.
template <typename T, typename IdleOf>
[[nodiscard]] T hidden_s(const Workflow& workflow, const Work<T>& work,
                         const std::vector<WeightTransfer<T>>& transfers, const T& eta, IdleOf idle_s) {
  if (work.beside_s > 0.0 && workflow.staleness < 1) return T(0.0);
  T late(0.0);  // from the end of the work to that of the last transfer
  for (std::size_t k = 0; k < transfers.size(); ++k) {
    T begin = work.rest_s - idle_s(k);
    if (transfers[k].is_to_generation && begin < work.beside_s) begin = work.beside_s;
    const T ends = begin - work.total_s + transfers[k].time_s;
    if (late < ends) late = ends;
  }
  return eta * (longest_s(transfers) - late);
}

}  // namespace sextant::inline costmodel
