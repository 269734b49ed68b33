#include "planner/explain/alternatives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "planner/baselines/sweep.h"
#include "planner/explain/judge.h"
#include "planner/request/groupings.h"
#include "sextant/error.h"
#include "sextant/planners.h"

namespace sextant::inline planner {
namespace {

constexpr std::array<std::string_view, 4> kQuick{"verl-colocated", "verl-split", "streamrl", "sha-ea"};

// The request with its own budget of evaluations: the same on every machine.
PlanRequest quick_request(const PlanRequest& request, std::uint64_t evaluations) {
  PlanRequest quick = request;
  quick.budget = {0, evaluations};
  quick.start = nullptr;
  quick.on_improvement = {};
  // 256 devices in machines of 8 are added one by one: smaller steps in the size of sets hardly matter.
  quick.limits.max_units = 32;
  return quick;
}

// Planners that know times alone refuse other objectives.
PlanResult plan_quickly(const Planner& planner, PlanRequest request) {
  try {
    return planner.plan(request);
  } catch (const Error& error) {
    if (request.objective.is_time_alone() || error.kind() != ErrorKind::bad_input) throw;
    request.objective = {};
    return planner.plan(request);
  }
}

// Tasks that share devices, directly or by others, are one group. By task of the workflow.
std::vector<int> groups_of(const Plan& plan, const Workflow& workflow) {
  std::vector<std::set<DeviceId>> devices;
  for (const Task& task : workflow.tasks) devices.push_back(plan.tasks.at(task.name).devices());
  std::vector<int> group(devices.size());
  for (std::size_t a = 0; a < devices.size(); ++a) {
    group[a] = static_cast<int>(a);
    for (std::size_t b = 0; b < a; ++b) {
      const bool shares = std::any_of(devices[a].begin(), devices[a].end(),
                                      [&](DeviceId device) { return devices[b].contains(device); });
      if (!shares || group[b] == group[a]) continue;
      const int from = group[a], to = group[b];
      std::replace(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(a) + 1, from, to);
    }
  }
  return group;
}

bool is_same_partition(const std::vector<int>& a, const std::vector<int>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if ((a[i] == a[j]) != (b[i] == b[j])) return false;
    }
  }
  return true;
}

// The tasks of the smaller group; of equal ones the second. Those that are pinned only where it has no other.
std::string describe_grouping(const TaskGrouping& grouping, const PlanRequest& request) {
  const Workflow& workflow = request.workflow;
  const auto first = std::count(grouping.group_of.begin(), grouping.group_of.end(), 0);
  const int smaller = 2 * first < static_cast<std::ptrdiff_t>(grouping.group_of.size()) ? 0 : 1;
  std::string text, pinned;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    if (grouping.group_of[t] != smaller) continue;
    std::string& names = request.limits.pins.contains(workflow.tasks[t].name) ? pinned : text;
    names += (names.empty() ? "" : " + ") + workflow.tasks[t].name;
  }
  return (text.empty() ? pinned : text) + " apart";
}

PlanResult plan_split(const PlanRequest& request, const TaskGrouping& grouping, SearchTables& tables) {
  SearchRun run(request, 0, tables);
  std::vector<UnitClass> units = units_in_order(request);
  if (units.size() < 2) return run.result("split", "one device cannot be dealt to two groups");
  Sweep sweep(run);
  sweep.look_at_splits(grouping, units);
  std::reverse(units.begin(), units.end());
  sweep.look_at_splits(grouping, units);
  return run.result("split");
}

// The same plan, or one that differs in nothing that matters.
bool is_known(const std::vector<FoundAlternative>& found, const PlanResult& result) {
  constexpr double kRounding = 1e-9;
  const double time_s = result.prediction->iteration_s;
  return std::any_of(found.begin(), found.end(), [&](const FoundAlternative& other) {
    return other.result.prediction &&
           std::abs(other.result.prediction->iteration_s - time_s) <= kRounding * time_s;
  });
}

// Moves of a whole result are what compilers see uninitialized values in, so numbers are sorted.
std::vector<FoundAlternative> fastest_of(const std::vector<FoundAlternative>& all, std::size_t maximum) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(all[i].result.prediction->iteration_s, i);
  std::sort(order.begin(), order.end());
  std::vector<FoundAlternative> fastest;
  for (std::size_t i = 0; i < std::min(maximum, order.size()); ++i) fastest.push_back(all[order[i].second]);
  return fastest;
}

// Pinned tasks are where they are, whatever group they are said to be of: they go with the first one.
bool is_of_dealt(const TaskGrouping& grouping, const PlanRequest& request) {
  for (std::size_t t = 1; t < grouping.group_of.size(); ++t) {
    if (request.limits.pins.contains(request.workflow.tasks[t].name) && grouping.group_of[t] != 0) return false;
  }
  return true;
}

// All ways to part the tasks in two, each once; of many tasks those with one apart.
std::vector<FoundAlternative> find_splits(const PlanRequest& request, const Plan& plan,
                                          const std::vector<FoundAlternative>& known) {
  const std::vector<int> chosen = groups_of(plan, request.workflow);
  std::vector<FoundAlternative> splits;
  SearchTables tables(request);  // groupings have their tasks on the same sets of devices
  for (const TaskGrouping& grouping : groupings_in_two(static_cast<int>(request.workflow.tasks.size()))) {
    if (is_same_partition(grouping.group_of, chosen)) continue;
    if (!is_of_dealt(grouping, request)) continue;
    PlanResult result = plan_split(request, grouping, tables);
    if (result.outcome != PlanOutcome::found || is_known(known, result) || is_known(splits, result)) continue;
    splits.push_back({describe_grouping(grouping, request), std::move(result)});
  }
  return splits;
}

}  // namespace

std::vector<FoundAlternative> find_alternatives(const PlanRequest& request, std::string_view planner,
                                                const Plan& plan, const AlternativeLimits& limits) {
  const PlanRequest quick = quick_request(request, limits.planner_evaluations);
  std::vector<FoundAlternative> found;
  for (const std::string_view name : kQuick) {
    if (name == planner) continue;
    found.push_back({std::string(name), plan_quickly(*find_planner(name), quick)});
  }
  PlanRequest by_time = quick;
  by_time.objective = {};
  by_time.budget.evaluations = limits.grouping_evaluations;
  by_time.limits.max_units = 8;
  for (FoundAlternative& split :
       fastest_of(find_splits(by_time, plan, found), static_cast<std::size_t>(limits.groupings))) {
    found.push_back(std::move(split));
  }
  return found;
}

}  // namespace sextant::inline planner
