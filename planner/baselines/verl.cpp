#include "planner/baselines/verl.h"

#include <algorithm>

#include "planner/baselines/sweep.h"

namespace sextant::inline planner {

PlanResult plan_by_verl_colocated(const PlanRequest& request) {
  SearchRun run(request, 0);
  Sweep(run).look_at_one_set();
  return run.result("verl-colocated");
}

PlanResult plan_by_verl_split(const PlanRequest& request) {
  SearchRun run(request, 0);
  Sweep sweep(run);
  const TaskGrouping grouping = two_groups(
      request.workflow, [](const Task& task) { return task.model == "actor" || task.model == "reference"; });
  if (grouping.groups == 1) {
    sweep.look_at_one_set();
    return run.result("verl-split");
  }
  std::vector<UnitClass> units = units_in_order(request);
  sweep.look_at_splits(grouping, units);
  std::reverse(units.begin(), units.end());
  sweep.look_at_splits(grouping, units);
  return run.result("verl-split");
}

}  // namespace sextant::inline planner
