#include "ask/export/trainer_script.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ask/framework.h"
#include "core/units.h"
#include "reports/export/launch/launch.h"
#include "reports/export/trainers/dialects.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {
namespace {

// The profiles with an exporter that a name stands for: one, or those of a family with its default first.
std::vector<const FrameworkProfile*> profiles_named(const std::string& name,
                                                    const std::vector<FrameworkProfile>& profiles) {
  std::vector<const FrameworkProfile*> found;
  for (const FrameworkProfile& profile : profiles) {
    if (find_dialect(profile.name) == nullptr) continue;
    if (profile.name == name && profile.family != name) return {&profile};
    if (profile.family == name) found.insert(profile.is_family_default ? found.begin() : found.end(), &profile);
  }
  if (found.empty()) throw_bad_input("--to: the data folder has no profile of " + name);
  return found;
}

// The time of an iteration, where the model can cost the plan.
PlanTime time_of(const LoadedInputs& loaded) {
  return [&loaded](const Plan& plan) -> std::optional<double> {
    try {
      return predict(loaded.cluster, loaded.workflow, plan, loaded.chosen.coefficients, loaded.chosen.framework)
          .iteration_s;
    } catch (const Error&) {  // the changed plan is one that the model cannot cost
      return std::nullopt;
    }
  };
}

// The costs of a plan.
struct PlanCosts {
  std::string
      sentence;  // "61.5 s an iteration, 60.1 GiB of 79.2 GiB on the fullest device, ..."; empty: not known
  std::string memory;  // "60.1 GiB of 79.2 GiB on the fullest device"
  bool fits = true;
};

PlanCosts costs_of(const Plan& plan, const LoadedInputs& loaded) {
  PlanCosts costs;
  try {
    const PredictionQuery asked{loaded.cluster, loaded.workflow, plan, loaded.chosen.coefficients,
                                loaded.chosen.framework};
    const Prediction prediction =
        predict(asked.cluster, asked.workflow, asked.plan, asked.coefficients, asked.framework);
    costs.fits = prediction.fits();
    const auto fullest = std::max_element(
        prediction.memory.begin(), prediction.memory.end(), [](const DeviceMemory& a, const DeviceMemory& b) {
          return a.needed_bytes() * b.capacity_bytes < b.needed_bytes() * a.capacity_bytes;
        });
    const std::optional<MemoryRisk> risk = memory_risk_of(asked);
    costs.memory = format_bytes(fullest->needed_bytes()) + " of " + format_bytes(fullest->capacity_bytes) +
                   " on the fullest device";
    costs.sentence =
        format_seconds(prediction.iteration_s) + " an iteration, " + costs.memory +
        (risk ? ", " + format_percent(risk->probability) + " probability of running out of memory" : "");
  } catch (const Error&) {  // not known
    return {};
  }
  return costs;
}

// The plan with its GPUs in reverse order: one of those that a framework may make of it which numbers them itself.
Plan on_reversed_gpus(const Plan& plan) {
  std::set<DeviceId> used;
  for (const auto& [name, task] : plan.tasks) used.merge(task.devices());
  std::map<DeviceId, DeviceId> other;
  for (auto [from, to] = std::pair(used.begin(), used.rbegin()); from != used.end(); ++from, ++to)
    other[*from] = *to;
  Plan reversed = plan;
  for (auto& [name, task] : reversed.tasks) {
    for (Replica& replica : task.replicas) {
      for (Stage& stage : replica.stages) {
        for (DeviceId& device : stage.devices) device = other.at(device);
      }
    }
  }
  return reversed;
}

// Says that the costs hold for the planned GPUs, where the framework chooses those of its pools among several types.
std::string warning_of_chosen_types(const Plan& exported, const LoadedInputs& loaded) {
  const PlanCosts other = costs_of(on_reversed_gpus(exported), loaded);
  return "warning: this holds only if the pools get the GPUs above, of these types; the script cannot say "
         "which" +
         (other.sentence.empty() ? std::string()
                                 : "; with all GPUs in reverse order: " + other.sentence +
                                       (other.fits ? "" : ", which does not fit"));
}

// Says how to get a plan that fits as it is exported: by planning for the framework, or if the script is of a program that
// is none, without what it cannot do.
std::string cure_of(const ExportedScript& script) {
  const std::vector<FrameworkProfile> profiles = shipped_profiles();
  if (find_profile(profiles, script.framework) != nullptr)
    return "plan again with --framework " + script.framework;
  std::string changes;
  for (const std::string& sentence : script.unsaid) changes += (changes.empty() ? "" : "; ") + sentence;
  return "plan again without what it changes (" + changes + ")";
}

// The costs of the script, those of the plan if it is another one, and a warning if neither fits. A plan that fits
// only as planned has no script: the text is replaced by a refusal.
void add_costs(const Plan& planned, const ExportedPlan& script_of, const LoadedInputs& loaded,
               ExportedScript& script) {
  const Plan& exported = script_of.plan;
  LoadedInputs runs = loaded;
  if (script_of.leaves_precision) runs.workflow.precision = Precision::bf16;
  const PlanCosts after = costs_of(exported, runs);
  if (after.sentence.empty()) return;
  const PlanCosts before = exported == planned && !script_of.leaves_precision ? PlanCosts{"", "", after.fits}
                                                                              : costs_of(planned, loaded);
  if (!after.fits && before.fits) {
    script.text.clear();
    script.refusal = script.framework + " cannot run the plan: as exported it needs " + after.memory +
                     ", as planned " + before.memory + "; " + cure_of(script) + ".";
    return;
  }
  if (!before.sentence.empty()) script.costs.push_back("as planned: " + before.sentence);
  script.costs.push_back(std::string("as exported") + (script_of.leaves_precision ? ", in bf16: " : ": ") +
                         after.sentence);
  if (!after.fits)
    script.costs.emplace_back("warning: as exported, the plan does not fit into memory (sextant predict)");
}

// The profile that profile_for chooses, or another of the family if the dialect of that one refuses the plan.
const FrameworkProfile& profile_that_runs(const Plan& plan, const LoadedInputs& loaded,
                                          const std::vector<const FrameworkProfile*>& named) {
  std::vector<const FrameworkProfile*> all = named;
  all.insert(all.begin(), &profile_for(plan, loaded.workflow, named));
  const FrameworkProfile* offered = nullptr;
  for (const FrameworkProfile* profile : all) {
    if (!why_not_offered(*profile, loaded.workflow).empty()) continue;
    if (offered == nullptr) offered = profile;
    const TrainerProblem problem{loaded.workflow, loaded.cluster, *profile};
    if (export_plan(plan, problem, *find_dialect(profile->name)).refusal.empty()) return *profile;
  }
  return offered != nullptr ? *offered : *all.front();
}

}  // namespace

std::vector<std::string> trainer_names() {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Dialect& dialect : dialect_table()) {
    for (const std::string_view name : {dialect.family, dialect.profile}) {
      if (known.emplace(name).second) names.emplace_back(name);
    }
  }
  for (const LaunchDialect& dialect : launch_table()) names.emplace_back(dialect.name);
  return names;
}

ExportedScript export_to_trainer(const Plan& plan, const LoadedInputs& loaded, const std::string& to) {
  ExportedScript script;
  script.framework = loaded.profile->name;
  script.version = loaded.profile->version;
  script.inputs = loaded.chosen.notes;
  const TrainerProblem problem{loaded.workflow, loaded.cluster, *loaded.profile};
  if (const std::string reason = why_not_offered(*loaded.profile, loaded.workflow); !reason.empty()) {
    script.refusal = to + " cannot run the plan: " + reason + ".";
    return script;
  }
  ExportedPlan exported = export_plan(plan, problem, *find_dialect(loaded.profile->name), time_of(loaded));
  if (!exported.refusal.empty()) {
    script.refusal = exported.refusal + ".";
    return script;
  }
  script.text = std::move(exported.text);
  script.unsaid = std::move(exported.unsaid);
  script.notes = std::move(exported.notes);
  if (loaded.workflow.turns > 1)
    script.notes.push_back(
        "note: the workflow has " + format_number(loaded.workflow.turns) +
        " turns, which the script does not say: name the environment or the tools, and the limit of "
        "turns, in the configuration of " +
        loaded.profile->family);
  for (const std::string& what : uneven_batches(*loaded.profile, loaded.workflow, exported.plan))
    script.notes.push_back(
        "note: " + what + ": " + loaded.profile->name +
        " gives all replicas equally many and refuses or drops the rest; change --prompts or --responses");
  add_costs(plan, exported, loaded, script);
  if (exported.chooses_types && !script.text.empty())
    script.costs.push_back(warning_of_chosen_types(exported.plan, loaded));
  return script;
}

std::string why_no_script(const Plan& plan, const LoadedInputs& loaded) {
  if (!loaded.profile || loaded.workflow.algorithm == Algorithm::custom) return "";
  const Dialect* dialect = find_dialect(loaded.profile->name);
  if (dialect == nullptr) return "";
  const std::string refusal =
      export_plan(plan, {loaded.workflow, loaded.cluster, *loaded.profile}, *dialect).refusal;
  return refusal.empty() ? "" : refusal + ".";
}

namespace {

// Whether it is a name on the Hugging Face Hub, "Qwen/Qwen3-14B", and no file or folder here.
bool is_hub_name(const std::string& model) {
  const std::size_t slash = model.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < model.size() &&
         model.find('/', slash + 1) == std::string::npos && model.front() != '.' && model.front() != '~' &&
         !std::filesystem::exists(model);
}

// Models that were asked for by their names on the Hub keep them, so that the script loads them from there if nothing else
// is set. A critic without a name begins as the actor does; a reward model without one is the user's own.
void keep_hub_names(const WorkflowOptions& asked, Workflow& workflow) {
  const auto keep = [&](const char* role, const std::string& model) {
    const auto found = workflow.models.find(role);
    if (found != workflow.models.end() && is_hub_name(model)) found->second.name = model;
  };
  keep("actor", asked.model);
  keep("critic", asked.critic.empty() ? asked.model : asked.critic);
  keep("reward", asked.reward_model);
}

// Megatron's limits are those of a framework that trains with it.
constexpr const char* kMegatronProfile = "slime";

// The tasks of a question in words are those of a framework.
Plan plan_for_program(const TrainerQuestion& question, const LoadedInputs& loaded,
                      std::vector<std::string>& notes) {
  try {
    return load_plan(question.plan, loaded, notes);
  } catch (const Error& error) {
    const bool is_in_words = question.inputs.workflow.empty() && question.inputs.framework.empty();
    if (!is_in_words) throw;
    throw Error(error.kind(), std::string(error.what()) + "; --framework names the one that the plan is for");
  }
}

ExportedScript export_to_program(const TrainerQuestion& question, const LaunchDialect& dialect,
                                 const std::vector<FrameworkProfile>& profiles) {
  const FrameworkProfile* megatron = find_profile(profiles, kMegatronProfile);
  if (megatron == nullptr)
    throw_bad_input("the data folder has no profile of " + std::string(kMegatronProfile));
  LoadedInputs loaded = load_inputs(question.inputs);
  keep_hub_names(question.inputs.workflow_in_words, loaded.workflow);
  ExportedScript script;
  script.inputs = loaded.chosen.notes;
  const Plan plan = plan_for_program(question, loaded, script.inputs);
  script.framework = dialect.name;
  script.version = dialect.version;
  ExportedPlan exported =
      export_launch(plan, {loaded.workflow, loaded.cluster, *megatron}, dialect, time_of(loaded));
  script.refusal = exported.refusal.empty() ? "" : exported.refusal + ".";
  if (!script.refusal.empty()) return script;
  script.text = std::move(exported.text);
  script.unsaid = std::move(exported.unsaid);
  script.notes = std::move(exported.notes);
  add_costs(plan, exported, loaded, script);
  return script;
}

// The inputs for the framework of a script. If the question is in words, its tasks are those of the framework that the
// plan was made for.
LoadedInputs inputs_for(const std::string& framework, const ModelInputs& asked) {
  ModelInputs inputs = asked;
  inputs.framework = framework;
  LoadedInputs loaded = load_inputs(inputs);
  if (asked.workflow.empty() && !asked.framework.empty()) loaded.workflow = load_inputs(asked).workflow;
  keep_hub_names(asked.workflow_in_words, loaded.workflow);
  return loaded;
}

}  // namespace

ExportedScript export_plan_of(const TrainerQuestion& question) {
  const std::vector<FrameworkProfile> profiles = shipped_profiles();
  if (const LaunchDialect* program = find_launch(question.to); program != nullptr)
    return export_to_program(question, *program, profiles);
  const std::vector<const FrameworkProfile*> named = profiles_named(question.to, profiles);
  LoadedInputs loaded = inputs_for(named.front()->name, question.inputs);
  std::vector<std::string> assumed;
  const Plan plan = plan_for_program(question, loaded, assumed);
  const FrameworkProfile& profile = profile_that_runs(plan, loaded, named);
  if (profile.name != named.front()->name) loaded = inputs_for(profile.name, question.inputs);
  loaded.chosen.notes.insert(loaded.chosen.notes.begin(), assumed.begin(), assumed.end());
  share_frozen_weights(*loaded.profile, plan, loaded.workflow);
  return export_to_trainer(plan, loaded, question.to);
}

}  // namespace sextant::inline ask
