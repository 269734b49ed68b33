#include "planner/baselines/streamrl.h"

#include <algorithm>

#include "planner/baselines/sweep.h"

namespace sextant {
namespace {

double bytes_per_flop(const PlanRequest& request, const std::vector<std::uint16_t>& unit) {
  const DeviceType& type = request.cluster.type_of(DeviceId{unit.front()});
  return type.memory_bytes_per_s.value / type.flop_per_s.at(request.workflow.precision).value;
}

}  // namespace

PlanResult plan_by_streamrl(const PlanRequest& request) {
  SearchRun run(request, 0);
  const TaskGrouping grouping =
      two_groups(request.workflow, [](const Task& task) { return task.kind == TaskKind::generation; });
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

}  // namespace sextant
