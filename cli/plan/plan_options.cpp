#include "cli/plan/plan_options.h"

#include "cli/ask/inputs.h"
#include "cli/shared/notes.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

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

// --compare-modes plans every mode that the framework offers, also if the workflow's own is none of them.
void take_offered_mode(const PlanOptions& options, LoadedInputs& loaded) {
  if (!options.compares_modes || options.any_layout || !loaded.profile) return;
  const auto& offered = loaded.profile->same_devices;
  if (offered.empty() || offered.contains(loaded.workflow.mode)) return;
  loaded.workflow.mode = offered.begin()->first;
  loaded.workflow.staleness = loaded.workflow.mode == Mode::synchronous ? 0 : 1;
  loaded.workflow.streamed_parts = 1;
  loaded.workflow.rollout.batches_in_flight = 0;
}

LoadedInputs load_asked(const PlanOptions& options) {
  LoadedInputs loaded = load(options.inputs);
  take_offered_mode(options, loaded);
  if (!options.excluded.empty() && options.explain.has_any())
    throw_bad_input(
        "--exclude cannot be used with --explain or --what-if; --what-if remove:NODE plans without a machine");
  return loaded;
}

}  // namespace

AskedPlan::AskedPlan(const PlanOptions& options, const RankGroup& ranks)
    : PlanInputs(options, load_asked(options), {ranks.ranks_on_host(), !options.makes_several()}),
      scenarios(scenarios_of(options.explain, loaded.cluster, options.json)) {
  for (const Scenario& scenario : scenarios.possible)
    (void)chosen_planner(options.planner, scenario.cluster.device_count());
  if (!ranks.is_alone()) refuse_ranks(options, planner, ranks.size());
  say(notes);
}

}  // namespace sextant::cli
