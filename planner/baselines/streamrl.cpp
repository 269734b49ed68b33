#include "planner/baselines/streamrl.h"

#include <algorithm>
#include <string>
#include <vector>

#include "planner/baselines/sweep.h"

namespace sextant::inline planner {
namespace {

double bytes_per_flop(const PlanRequest& request, const std::vector<std::uint16_t>& unit) {
  const DeviceType& type = request.cluster.type_of(DeviceId{unit.front()});
  return type.memory_bytes_per_s.value / type.flop_per_s.at(request.workflow.precision).value;
}

TaskGrouping generation_apart(const Workflow& workflow) {
  return two_groups(workflow, [](const Task& task) { return task.kind == TaskKind::generation; });
}

}  // namespace

PlanResult plan_by_types(const PlanRequest& request) {
  SearchRun run(request, 0);
  const TaskGrouping grouping = generation_apart(request.workflow);
  const std::vector<UnitClass> units = units_in_order(request);
  const auto type_of = [&](const UnitClass& unit) {
    return request.cluster.type_name(DeviceId{unit.units.front().front()});
  };
  std::vector<std::string> types;
  for (const UnitClass& unit : units) {
    if (std::find(types.begin(), types.end(), type_of(unit)) == types.end()) types.push_back(type_of(unit));
  }
  constexpr std::size_t kMaxTypes = 6;
  if (grouping.groups == 1 || types.size() < 2 || types.size() > kMaxTypes || !request.limits.pins.empty())
    return run.result("types", "two to six types of devices are needed, and no pins");
  Sweep sweep(run);
  for (std::size_t chosen = 1; chosen + 1 < std::size_t{1} << types.size(); ++chosen) {
    const auto generates = [&](const UnitClass& unit) {
      const auto type = std::find(types.begin(), types.end(), type_of(unit)) - types.begin();
      return (chosen >> type & 1) != 0;
    };
    std::vector<UnitClass> sorted = units;
    const auto end = std::stable_partition(sorted.begin(), sorted.end(), generates);
    sweep.look_at_split(grouping, sorted, static_cast<std::size_t>(end - sorted.begin()));
  }
  return run.result("types");
}

PlanResult plan_by_streamrl(const PlanRequest& request) {
  SearchRun run(request, 0);
  const TaskGrouping grouping = generation_apart(request.workflow);
  std::vector<UnitClass> units = units_in_order(request);
  if (grouping.groups == 1) return run.result("streamrl", "generation and other tasks are needed to set apart");
  if (units.size() < 2) return run.result("streamrl", "one device cannot be dealt to two groups");
  Sweep sweep(run);
  // Among equals generation gets those that come first in the cluster, then those that come last: they may lie
  // in different zones.
  for (const bool from_the_end : {false, true}) {
    if (from_the_end) std::reverse(units.begin(), units.end());
    std::stable_sort(units.begin(), units.end(), [&](const auto& a, const auto& b) {
      return bytes_per_flop(request, a.units.front()) > bytes_per_flop(request, b.units.front());
    });
    sweep.look_at_splits(grouping, units);
  }
  return run.result("streamrl");
}

}  // namespace sextant::inline planner
