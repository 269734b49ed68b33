#include "ask/framework.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "ask/data_files.h"
#include "ask/document_source.h"
#include "ask/words/nearest_name.h"
#include "calibrate/spelling.h"
#include "core/text.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

namespace fs = std::filesystem;

// Engines: their coefficients are those of generation alone (data/public/generation).
constexpr std::array<std::string_view, 4> kEngines{"lmdeploy", "sglang", "tensorrt-llm", "vllm"};

constexpr const char* kUsual = "any";  // the profile for those who name no framework

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Frameworks that the coefficients in the data folder have values of.
std::set<std::string> fitted_frameworks() {
  std::set<std::string> names;
  const std::optional<fs::path> data = find_data_folder();
  const fs::path folder = data.value_or("") / "coefficients";
  if (!data || !fs::is_directory(folder)) return names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    for (std::string& name : frameworks_of(load_document<Coefficients>(entry.path()).content))
      names.insert(std::move(name));
  }
  return names;
}

[[noreturn]] void refuse(const std::string& name, const std::vector<FrameworkProfile>& profiles) {
  std::set<std::string> planned, fitted = fitted_frameworks();
  for (const FrameworkProfile& profile : profiles) {
    planned.insert(profile.name);
    planned.insert(profile.family);
  }
  std::set<std::string> all = planned;
  all.insert(fitted.begin(), fitted.end());
  const std::vector<std::string_view> names(all.begin(), all.end());
  for (const std::string& known : planned) fitted.erase(known);
  throw_bad_input("--framework: there is no framework " + in_quotes(name) + did_you_mean(name, names) +
                  " (plans and coefficients: " + joined(planned) + "; coefficients only: " + joined(fitted) +
                  ")");
}

// Whether the coefficients were fitted to runs of the framework, with values of its own or without.
bool is_fitted(const std::string& name, const Coefficients& coefficients) {
  const std::vector<std::string> names = frameworks_of(coefficients);
  return std::find(names.begin(), names.end(), framework_as_in(coefficients, name)) != names.end();
}

// The framework that a file of coefficients is of, where it is of one alone.
std::string only_framework(const std::string& file) {
  const std::vector<std::string> names = frameworks_of(document_of<Coefficients>(file));
  return names.size() == 1 ? names.front() : "";
}

bool is_file(const std::string& coefficients) {
  return !coefficients.empty() && coefficients != kNoCoefficients;
}

}  // namespace

void share_frozen_weights(Workflow& workflow) {
  const auto reference = std::find_if(workflow.tasks.begin(), workflow.tasks.end(), [](const Task& task) {
    return task.name == task_names::kReferenceInference;
  });
  if (reference == workflow.tasks.end() || !workflow.has_task(task_names::kActorTraining)) return;
  const std::string own = reference->model, actor = workflow.actor_training().model;
  if (own == actor || workflow.models.at(own).parameters() != workflow.models.at(actor).parameters()) return;
  reference->model = actor;
  if (std::none_of(workflow.tasks.begin(), workflow.tasks.end(),
                   [&](const Task& task) { return task.model == own; }))
    workflow.models.erase(own);
}

void share_frozen_weights(const FrameworkProfile& profile, const Plan& plan, Workflow& workflow) {
  const auto trained = plan.tasks.find(task_names::kActorTraining);
  if (profile.adapters.reference_is_actor && trained != plan.tasks.end() &&
      trained->second.execution.lora_rank > 0)
    share_frozen_weights(workflow);
}

std::vector<FrameworkProfile> shipped_profiles() {
  const std::optional<fs::path> data = find_data_folder();
  return data ? load_framework_profiles(*data / "frameworks") : std::vector<FrameworkProfile>{};
}

void require_trainer(const std::string& framework, const Workflow& workflow) {
  // "vllm-0.6" is a version of an engine.
  const bool is_engine = std::any_of(kEngines.begin(), kEngines.end(), [&](std::string_view engine) {
    return framework.starts_with(engine) &&
           (framework.size() == engine.size() || framework[engine.size()] == '-');
  });
  if (!is_engine) return;
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::training) continue;
    std::set<std::string> trainers;
    for (const FrameworkProfile& profile : shipped_profiles()) {
      if (profile.name != kUsual) trainers.insert(profile.family);
    }
    throw_bad_input("--framework: " + framework + " is an engine that only generates, and the workflow has " +
                    task.name + "; frameworks that train: " + joined(trainers) +
                    " (their generation runs on such an engine)");
  }
}

std::vector<std::string> uneven_batches(const FrameworkProfile& profile, const Workflow& workflow,
                                        const Plan& plan) {
  std::vector<std::string> uneven;
  for (const Task& task : workflow.tasks) {
    const auto of_kind = profile.tasks.find(task.kind);
    const int replicas = plan.tasks.at(task.name).data_parallel();
    if (of_kind == profile.tasks.end() || !of_kind->second.has_even_batch ||
        workflow.sequences() % replicas == 0)
      continue;
    uneven.push_back(std::to_string(workflow.sequences()) + " sequences over " + std::to_string(replicas) +
                     " replicas of " + task.name);
  }
  return uneven;
}

ChosenFramework choose_framework(const FrameworkQuestion& asked, const Cluster& cluster) {
  const std::vector<FrameworkProfile> profiles = shipped_profiles();
  ChosenFramework out;
  std::string name = asked.framework;
  std::vector<std::string> notes;
  if (name.empty() && is_file(asked.coefficients)) {
    name = only_framework(asked.coefficients);
    if (!name.empty())
      notes.push_back(source_name<Coefficients>(asked.coefficients) + " is for framework " + name +
                      " only: used that for --framework");
  }
  const FrameworkProfile* profile = name.empty() || name == kAny ? nullptr : find_profile(profiles, name);
  std::string of_coefficients = name.empty() ? std::string(kAny) : name;
  if (profile != nullptr)
    of_coefficients = profile->coefficients != kAny ? profile->coefficients : profile->name;
  if (of_coefficients == kUsual) of_coefficients = kAny;
  out.chosen = choose_coefficients(asked.coefficients, of_coefficients, cluster);
  const bool is_known = name.empty() || name == kAny || profile != nullptr ||
                        is_fitted(name, out.chosen.coefficients) || fitted_frameworks().contains(name);
  if (!is_known) refuse(name, profiles);
  if (profile != nullptr) out.profile = *profile;
  if (is_known && profile == nullptr && !name.empty() && name != kAny && asked.coefficients.empty()) {
    std::set<std::string> planned;
    for (const FrameworkProfile& one : profiles) planned.insert(one.name);
    notes.push_back(
        "warning: " + name +
        " has coefficients alone, no profile: tasks are executed in the plainest way, with padded batches and "
        "none of a trainer's options; profiles: " +
        joined(planned));
  }
  // Without a framework, a GPU cluster gets the profile that most frameworks have in common.
  const bool takes_usual = name.empty() && asked.coefficients.empty() && out.chosen.name != kNoCoefficients;
  if (takes_usual) {
    if (const FrameworkProfile* usual = find_profile(profiles, kUsual)) out.profile = *usual;
  }
  out.chosen.notes.insert(out.chosen.notes.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace sextant::inline ask
