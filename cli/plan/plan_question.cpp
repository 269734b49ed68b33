#include "cli/plan/plan_question.h"

#include <algorithm>
#include <set>

#include "cli/plan/what_if.h"
#include "planner/answer.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"
#include "sextant/trust.h"

namespace sextant::cli {
namespace {

// A plan that the search may begin with: one that can be run and obeys the pins, and within what bounds are of.
PlanResult load_start(const std::string& file, const LoadedInputs& loaded, const Pins& pins) {
  const ChosenCoefficients& chosen = loaded.chosen;
  PlanResult start;
  start.plan = load_plan(file, loaded);
  const Verdict verdict =
      verify_plan(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework, pins);
  if (!verdict.feasible())
    throw_bad_input(file + ": the plan cannot be run, so the search cannot start from it: " +
                    describe(verdict.violations.front()));
  start.outcome = PlanOutcome::found;
  start.prediction =
      predict(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework);
  return start;
}

std::set<DeviceId> excluded_devices(const PlanOptions& options, const Cluster& cluster) {
  if (!options.excluded.empty() && !options.planner.warm_start.empty())
    throw_bad_input("--exclude cannot be used with --warm-start, whose plan may use excluded devices");
  if (!options.excluded.empty() && options.explain.has_any())
    throw_bad_input(
        "--exclude cannot be used with --explain or --what-if; --what-if remove:NODE plans without a machine");
  std::set<DeviceId> devices;
  for (const std::string& name : options.excluded) devices.merge(devices_named(cluster, name));
  return devices;
}

// Throws Error(bad_input) for what one process does alone.
void refuse_ranks(const PlanOptions& options, const Planner& planner, int ranks) {
  const std::string without = "; this job has " + std::to_string(ranks) + " ranks: start without mpirun";
  if (options.makes_several())
    throw_bad_input("--pareto and --compare-modes run in a single process" + without);
  if (risk_goal_of(options.planner.goal) || !options.run.parts.empty())
    throw_bad_input("--goal mean and p50 to p99 and --length-schedule run in a single process" + without);
  if (!planner.traits.has_ranks)
    throw_bad_input("--planner: " + std::string(planner.name) + " runs in a single process" + without +
                    ", or use planner " + PlannerOptions{}.planner);
}

}  // namespace

PlanInputs::PlanInputs(const PlanOptions& options, const RankGroup& ranks)
    : loaded(load(options.inputs)),
      left(without(loaded.cluster, excluded_devices(options, loaded.cluster))),
      planner(chosen_planner(options.planner, left.cluster.device_count())),
      scenarios(scenarios_of(options.explain, loaded.cluster, options.json)),
      request{left.cluster, loaded.workflow, loaded.chosen.coefficients, loaded.chosen.framework} {
  if (!risk_goal_of(options.planner.goal) && options.risk != RiskOptions{})
    throw_bad_input("--length-drift, --link-jitter and --risk-draws need --goal mean or p50 to p99");
  if (!run_parts(options.run).empty() && options.planner.goal != AskedGoal::time)
    throw_bad_input("--length-schedule needs --goal time");
  if (options.run.parts.empty() && options.run != RunOptions{})
    throw_bad_input("--change-seconds needs --length-schedule");
  for (const Scenario& scenario : scenarios)
    (void)chosen_planner(options.planner, scenario.cluster.device_count());
  if (!ranks.is_alone()) refuse_ranks(options, planner, ranks.size());
  apply(options.planner, planner, request);
  if (loaded.profile) {
    const LayoutRules rules = options.any_layout ? LayoutRules::any : LayoutRules::as_framework;
    if (rules == LayoutRules::as_framework && !planner.traits.has_layout_rules)
      throw_bad_input("--planner: " + std::string(planner.name) +
                      " cannot restrict its search to the layouts that framework " + loaded.profile->name +
                      " can run; --any-layout allows all layouts");
    take_profile(*loaded.profile, rules, request);
  } else if (options.any_layout) {
    throw_bad_input("--any-layout needs --framework, whose layouts it extends");
  }
  if (options.limits_risk(loaded))
    request.memory_share =
        share_for_risk(options.memory_risk(), memory_log_deviation(loaded.chosen.coefficients));
  if (!options.planner.threads) request.threads = std::max(1, request.threads / ranks.ranks_on_host());
  pins = pins_of(options.planner.pins, loaded, request.choices);
  request.limits.pins = left.pins_within(pins, loaded.cluster);
  if (options.planner.warm_start.empty() || options.makes_several()) return;
  start = load_start(options.planner.warm_start, loaded, request.limits.pins);
  for (const auto& [task, layout] : start.plan->tasks)
    add_execution(request.choices, loaded.workflow, task, layout);
  request.start = &start;
}

}  // namespace sextant::cli
