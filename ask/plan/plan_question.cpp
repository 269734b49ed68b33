#include "ask/plan/plan_question.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ask/document_source.h"
#include "ask/framework.h"
#include "core/in_file.h"
#include "planner/answer.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {
namespace {

// A plan that the search may begin with: one that can be run and obeys the pins, and within what bounds are of.
PlanResult load_start(const std::string& file, const LoadedInputs& loaded, const Pins& pins,
                      std::vector<std::string>& notes) {
  const ChosenCoefficients& chosen = loaded.chosen;
  PlanResult start;
  std::vector<std::string> assumed;
  start.plan = load_plan(file, loaded, assumed);
  notes.insert(notes.end(), assumed.begin(), assumed.end());
  const Verdict verdict =
      verify_plan(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework, pins);
  if (!verdict.feasible())
    throw_bad_input(source_name<Plan>(file) + ": the plan cannot be run, so the search cannot start from it: " +
                    describe(verdict.violations.front()));
  start.outcome = PlanOutcome::found;
  start.prediction =
      predict(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework);
  return start;
}

std::set<DeviceId> excluded_devices(const PlanQuestion& question, const Cluster& cluster) {
  if (!question.excluded.empty() && !question.planner.warm_start.empty())
    throw_bad_input("--exclude cannot be used with --warm-start, whose plan may use excluded devices");
  std::set<DeviceId> devices;
  for (const std::string& name : question.excluded) devices.merge(devices_named(cluster, name));
  return devices;
}

void check_risk_and_run(const PlanQuestion& question) {
  if (!risk_goal_of(question.planner.goal) && question.risk != RiskOptions{})
    throw_bad_input("--length-drift, --link-jitter and --risk-draws need --goal mean or p50 to p99");
  if (!run_parts(question.run).empty() && question.planner.goal != AskedGoal::time)
    throw_bad_input("--length-schedule needs --goal time");
  if (question.run.parts.empty() && question.run != RunOptions{})
    throw_bad_input("--change-seconds needs --length-schedule");
}

void take_framework(const PlanQuestion& question, const LoadedInputs& loaded, const Planner& planner,
                    PlanRequest& request) {
  if (loaded.profile) {
    const LayoutRules rules = question.any_layout ? LayoutRules::any : LayoutRules::as_framework;
    if (rules == LayoutRules::as_framework && !planner.traits.has_layout_rules)
      throw_bad_input("--planner: " + std::string(planner.name) +
                      " cannot restrict its search to the layouts that framework " + loaded.profile->name +
                      " can run; --any-layout allows all layouts");
    take_profile(*loaded.profile, rules, request);
  } else if (question.any_layout) {
    throw_bad_input("--any-layout needs --framework, whose layouts it extends");
  }
  if (question.limits_risk(loaded))
    request.memory_share =
        share_for_risk(question.memory_risk(), memory_log_deviation(loaded.chosen.coefficients));
}

// The reference computes with the frozen weights of the actor, where these are.
void take_actor_as_reference(FrameworkProfile& profile, Workflow& workflow) {
  if (!workflow.has_task(task_names::kReferenceInference) || !workflow.has_task(task_names::kActorTraining))
    return;
  share_frozen_weights(workflow);
  profile.same_layout.push_back({task_names::kActorTraining, task_names::kReferenceInference});
}

// Planners number devices with 16 bits.
void require_plannable(const LoadedInputs& loaded) {
  constexpr int kMaxDevices = 65536;
  const int devices = loaded.cluster.device_count();
  if (devices <= kMaxDevices) return;
  const std::string where =
      loaded.files.empty() || loaded.files.front().empty() ? "--gpus" : loaded.files.front();
  throw_bad_input(where + ": " + std::to_string(devices) + " devices, more than the " +
                  std::to_string(kMaxDevices) + " that can be planned");
}

// The inputs with a profile whose training tasks train adapters.
LoadedInputs with_lora(LoadedInputs loaded, int rank) {
  if (rank == 0) return loaded;
  if (!loaded.profile) throw_bad_input("--lora-rank needs --framework, whose options it changes");
  FrameworkProfile& profile = *loaded.profile;
  if (!profile.option_names.empty() && !profile.option_names.contains("training.lora_rank"))
    throw_bad_input("--lora-rank: framework " + profile.name + ", as described by its profile, has no LoRA");
  for (Execution& execution : profile.tasks[TaskKind::training].executions) {
    execution.lora_rank = rank;
    execution.weight_precision = profile.adapters.weight_precision;
  }
  if (profile.adapters.reference_is_actor) take_actor_as_reference(profile, loaded.workflow);
  return loaded;
}

}  // namespace

PlanInputs::PlanInputs(const PlanQuestion& question, LoadedInputs loaded_inputs, const PlanningProcess& process)
    : loaded(with_lora(std::move(loaded_inputs), question.lora_rank)),
      left(without(loaded.cluster, excluded_devices(question, loaded.cluster))),
      planner(chosen_planner(question.planner, left.cluster.device_count())),
      request{left.cluster, loaded.workflow, loaded.chosen.coefficients, loaded.chosen.framework} {
  check_risk_and_run(question);
  require_plannable(loaded);
  apply(question.planner, planner, request);
  in_files(loaded.files, [&] { take_framework(question, loaded, planner, request); });
  if (!question.planner.threads) request.threads = std::max(1, request.threads / process.processes_on_host);
  pins = pins_of(question.planner.pins, loaded, request.choices, notes);
  request.limits.pins = left.pins_within(pins, loaded.cluster);
  if (question.planner.warm_start.empty() || !process.uses_start) return;
  start = load_start(question.planner.warm_start, loaded, request.limits.pins, notes);
  for (const auto& [task, layout] : start.plan->tasks)
    add_execution(request.choices, loaded.workflow, task, layout);
  request.start = &start;
}

}  // namespace sextant::inline ask
