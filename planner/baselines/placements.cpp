#include "planner/baselines/placements.h"

#include <algorithm>
#include <map>
#include <string>

#include "planner/baselines/sweep.h"
#include "sextant/search_space.h"

namespace sextant::inline planner {
namespace {

constexpr int kMachines = 8;  // units of a cluster whose assignments are tried: 35 ways to cut them in four

PlanRequest by_machines(PlanRequest request) {
  if (request.limits.max_units == 0 || request.limits.max_units > kMachines)
    request.limits.max_units = kMachines;
  return request;
}

// Groups by number, numbered anew in the order in which tasks first name them.
TaskGrouping renumbered(const std::vector<int>& numbers) {
  TaskGrouping grouping;
  std::map<int, int> names;
  for (const int number : numbers)
    grouping.group_of.push_back(names.emplace(number, static_cast<int>(names.size())).first->second);
  grouping.groups = static_cast<int>(names.size());
  return grouping;
}

// Every partition of the models: of each model the group of an earlier one, or one of its own.
void add_partitions(const std::vector<std::string>& models, std::map<std::string, int>& group_of, int groups,
                    const Workflow& workflow, std::vector<TaskGrouping>& all) {
  if (group_of.size() == models.size()) {
    std::vector<int> numbers;
    for (const Task& task : workflow.tasks) numbers.push_back(group_of.at(task.model));
    all.push_back(renumbered(numbers));
    return;
  }
  const std::string& model = models[group_of.size()];
  for (int group = 0; group <= groups; ++group) {
    group_of[model] = group;
    add_partitions(models, group_of, std::max(groups, group + 1), workflow, all);
  }
  group_of.erase(model);
}

std::vector<TaskGrouping> partitions_of_models(const Workflow& workflow) {
  std::vector<std::string> models;
  for (const Task& task : workflow.tasks) models.push_back(task.model);
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  std::vector<TaskGrouping> all;
  std::map<std::string, int> group_of;
  add_partitions(models, group_of, 0, workflow, all);
  return all;
}

}  // namespace

PlanResult plan_by_openrlhf(const PlanRequest& request) {
  require_no_pins(request.limits.pins, "openrlhf");
  const PlanRequest own = by_machines(request);
  SearchRun run(own, 0);
  std::vector<int> numbers;
  for (const Task& task : own.workflow.tasks) {
    const bool is_of_actor = task.model == "actor" || task.model == "reference";
    numbers.push_back(task.kind == TaskKind::generation ? 2 : is_of_actor ? 0 : 1);
  }
  const TaskGrouping grouping = renumbered(numbers);
  std::vector<UnitClass> units = units_in_order(own);
  if (units.size() < static_cast<std::size_t>(grouping.groups))
    return run.result("openrlhf", "there are fewer devices than sets of tasks");
  Sweep sweep(run);
  sweep.look_at_cuts(grouping, units);
  std::reverse(units.begin(), units.end());
  sweep.look_at_cuts(grouping, units);
  return run.result("openrlhf");
}

PlanResult plan_by_verl_auto(const PlanRequest& request) {
  require_no_pins(request.limits.pins, "verl-auto");
  const PlanRequest own = by_machines(request);
  SearchRun run(own, 0);
  Sweep sweep(run);
  const std::vector<UnitClass> units = units_in_order(own);
  for (const TaskGrouping& grouping : partitions_of_models(own.workflow)) {
    if (run.is_over()) break;
    sweep.look_at_cuts(grouping, units);
  }
  return run.result("verl-auto");
}

}  // namespace sextant::inline planner
