#include "planner/two_phase/two_phase.h"

#include <algorithm>
#include <cmath>

#include "planner/baselines/sweep.h"
#include "planner/two_phase/dollars.h"
#include "planner/two_phase/repartition.h"
#include "planner/two_phase/window.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

constexpr int kWantedUnits = 64;  // eight machines of eight devices one by one

bool can_be_split(const PlanRequest& request) {
  return has_two_sides(request.workflow) && request.cluster.device_count() > 1;
}

// The end of the last growing window: the partition to start with. Empty if no window is needed.
std::optional<Partition> partition_of_windows(SearchRun& run, const PartitionGraph& graph,
                                              bool costs_every_layout) {
  const PlanRequest& request = run.request();
  if (request.workflow.response_tokens.kind == LengthKind::fixed) return std::nullopt;
  constexpr double kStableChange = 0.01;  // relative change of the iteration between windows
  constexpr int kMaxWindows = 8;
  std::optional<Partition> best;
  double last_s = 0;
  int steps = first_window_steps(request.workflow);
  for (int w = 0; w < kMaxWindows && !run.is_over(); ++w, steps *= 2) {
    const Costing costing(request, windowed(request.workflow, steps, request.seed));
    Repartition repartition(run, costing, graph, false, costs_every_layout);
    if (best) {
      (void)repartition.cost(*best);
    } else {
      (void)repartition.binary_search();
    }
    repartition.climb(1);
    if (repartition.best() == nullptr) continue;
    const bool is_stable = best == *repartition.best() &&
                           std::abs(repartition.best_s() - last_s) <= kStableChange * repartition.best_s();
    best = *repartition.best();
    last_s = repartition.best_s();
    if (is_stable) break;
  }
  return best;
}

// On the whole cluster again.
PlanResult plan_on_rented(const PlanRequest& request) {
  RentedPlan rented = plan_within_budget(request, request.objective.max_usd_per_hour);
  PlanResult& result = rented.result;
  if (!result.plan) return std::move(result);
  result.plan = rented.part.on_whole(std::move(*result.plan));
  result.prediction =
      predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
  return std::move(result);
}

PlanResult plan_in_two_phases(const PlanRequest& request, bool costs_every_layout) {
  SearchRun run(request, 0);
  if (request.device_rules.apart.empty()) Sweep(run).look_at_one_set();
  if (!can_be_split(request)) return run.result("two-phase");
  const PartitionGraph graph(request, kWantedUnits);
  const std::optional<Partition> start = partition_of_windows(run, graph, costs_every_layout);
  const Costing costing(request, request.workflow);
  Repartition repartition(run, costing, graph, true, costs_every_layout);
  if (start) (void)repartition.cost(*start);
  (void)repartition.binary_search();
  repartition.open_range();
  repartition.scan();
  repartition.climb(2);
  repartition.deal_values();
  return run.result("two-phase");
}

}  // namespace

PlanResult plan_by_two_phase(const PlanRequest& request) {
  if (request.objective.is_time_for_rent()) return plan_on_rented(request);
  require_time_alone(request.objective, "two-phase");
  require_no_pins(request.limits.pins, "two-phase");
  return plan_in_two_phases(request, false);
}

PlanResult plan_by_every_layout(const PlanRequest& request) { return plan_in_two_phases(request, true); }

PlanResult plan_by_all_partitions(const PlanRequest& request) {
  SearchRun run(request, 0);
  Sweep(run).look_at_one_set();
  if (!can_be_split(request)) return run.result("all-partitions");
  const PartitionGraph graph(request, kWantedUnits);
  const Costing costing(request, request.workflow);
  Repartition repartition(run, costing, graph, true);
  for (const Partition& partition : graph.partitions()) (void)repartition.cost(partition);
  repartition.deal_values();
  return run.result("all-partitions");
}

}  // namespace sextant::inline planner
