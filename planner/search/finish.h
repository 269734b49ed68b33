// The last changes of a plan that was found. Tasks that a framework runs on one engine get one layout: an actor's
// training and the second pass over its log-probabilities, for example. Tasks with slack get faster ones.
#pragma once

#include <cstddef>
#include <vector>

#include "sextant/planner.h"

namespace sextant {

// True if replicas, stages, devices and the parallelism of experts and contexts are equal. Sizes of
// micro-batches, recomputation and offloading are each task's own.
[[nodiscard]] bool have_same_layout(const TaskPlan& task, const TaskPlan& other);

// The sets of tasks that are connected by these pairs, each in ascending order.
[[nodiscard]] std::vector<std::vector<std::size_t>> connected_tasks(const TaskPairs& pairs);

// Replaces the layouts of the tasks of each set of DeviceRules::same_layout by the best one that they can share
// on the devices of the set's first task, everything else being as in the plan. Layouts that any of the tasks
// would choose alone are tried, and the plan's own. Does nothing if there is no plan, if it obeys the rule, or
// if a task of the set is pinned. A plan that was proved to be the best without the rule keeps the lower bound
// and loses the proof. If nothing fits, there is no plan.
void share_layouts(const PlanRequest& request, PlanResult& result);

// Makes tasks at least 5 % faster on their devices if the loss rises by no more than kMaxLossOfSlack of it: a task
// that runs beside a slower one has slack, and a search is content with any of its layouts that is fast enough on
// average. Pinned tasks and those of same_layout keep theirs.
inline constexpr double kMaxLossOfSlack = 1e-3;
void use_slack(const PlanRequest& request, PlanResult& result);

}  // namespace sextant
