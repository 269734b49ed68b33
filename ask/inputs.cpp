#include "ask/inputs.h"

#include <algorithm>
#include <utility>

#include "ask/attention_of_old_gpus.h"
#include "ask/document_source.h"
#include "ask/framework.h"
#include "ask/framework_habits.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {

namespace {

// The files in which a contradiction may lie. A name of a model is none.
std::vector<std::string> files_of(const ModelInputs& inputs) {
  std::vector<std::string> files{inputs.cluster, inputs.workflow};
  const WorkflowOptions& words = inputs.workflow_in_words;
  for (const std::string& model : {words.model, words.critic, words.reward_model}) {
    std::error_code fault;
    if (std::filesystem::exists(model, fault)) files.push_back(model);
  }
  return files;
}

}  // namespace

namespace {

// Rates that a datasheet states in TFLOP/s, GB/s and GB, written down without their factor.
void warn_of_units(const Cluster& cluster, std::vector<std::string>& notes) {
  constexpr double kMinFlop = 1e9, kMinBytesPerS = 1e8, kMinBytes = 1e7;
  const auto check = [&](const std::string& member, double value, double minimum, const char* unit,
                         const std::string& example) {
    if (value >= minimum || value <= 0) return;
    notes.push_back("warning: " + member + " is " + format_number(value) + " " + unit +
                    ", which no GPU is as slow or small as; " + example);
  };
  for (const auto& [name, type] : cluster.device_types()) {
    if (type.kind != DeviceKind::gpu) continue;
    const std::string of = "cluster: /device_types/" + name + "/";
    for (const auto& [precision, rate] : type.flop_per_s)
      check(of + "flop_per_s/" + std::string(name_of(precision)), rate.value, kMinFlop, "flop/s",
            "989 TFLOP/s are 9.89e14");
    check(of + "memory_bytes_per_s", type.memory_bytes_per_s.value, kMinBytesPerS, "bytes/s",
          "3350 GB/s are 3.35e12");
    check(of + "memory_bytes", type.memory_bytes.value, kMinBytes, "bytes", "80 GB are 8e10");
  }
}

}  // namespace

LoadedInputs load_inputs(const ModelInputs& inputs) {
  if (inputs.cluster.empty() && inputs.cluster_in_words.gpus.empty())
    throw_bad_input("the cluster is missing: --cluster cluster.json, or --gpus, for example 4x8xH100");
  if (inputs.workflow.empty() && inputs.workflow_in_words.model.empty())
    throw_bad_input(
        "the workflow is missing: --workflow workflow.json, or --model, for example Qwen/Qwen3-14B");
  LoadedInputs loaded;
  loaded.files = files_of(inputs);
  std::vector<std::string> notes;
  loaded.cluster = inputs.cluster.empty() ? cluster_of(inputs.cluster_in_words, notes)
                                          : document_of<Cluster>(inputs.cluster);
  if (!inputs.cluster.empty()) warn_of_units(loaded.cluster, notes);
  ChosenFramework framework = choose_framework({inputs.coefficients, inputs.framework}, loaded.cluster);
  loaded.chosen = std::move(framework.chosen);
  loaded.profile = std::move(framework.profile);
  loaded.workflow = inputs.workflow.empty()
                        ? workflow_of(inputs.workflow_in_words, loaded.profile ? &*loaded.profile : nullptr,
                                      loaded.cluster.device_count(), notes)
                        : document_of<Workflow>(inputs.workflow);
  require_trainer(inputs.framework, loaded.workflow);
  if (loaded.profile) {
    if (std::string warning = attention_of_old_gpus(loaded.cluster, *loaded.profile); !warning.empty())
      notes.push_back(std::move(warning));
  }
  for (const std::string& warning : loaded.workflow.context_warnings()) notes.push_back("Warning: " + warning);
  if (!inputs.save_inputs.empty()) {
    const std::filesystem::path folder = inputs.save_inputs;
    save_document(folder / "cluster.json", loaded.cluster);
    save_document(folder / "workflow.json", loaded.workflow);
  }
  loaded.chosen.notes.insert(loaded.chosen.notes.begin(), notes.begin(), notes.end());
  return loaded;
}

std::string framework_of_plans(const LoadedInputs& loaded) {
  return loaded.profile && loaded.profile->name != "any" ? loaded.profile->name : "";
}

namespace {

Plan plan_in_words(const LayoutOptions& layouts, const LoadedInputs& loaded,
                   std::vector<std::string>& assumed) {
  Plan plan = plan_from_words(layouts, loaded.workflow, loaded.cluster);
  if (loaded.profile) {
    plan.weight_sync = loaded.profile->weight_sync;
    assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  }
  plan.framework = framework_of_plans(loaded);
  set_degrees(layouts, loaded.workflow, loaded.cluster, plan);
  if (loaded.profile) {
    for (auto& [task, layout] : plan.tasks) {
      if (layout.execution.lora_rank > 0)
        layout.execution.weight_precision = loaded.profile->adapters.weight_precision;
    }
  }
  if (loaded.profile)
    follow_framework(*loaded.profile, layouts, loaded.workflow, loaded.cluster, plan, assumed);
  check_plan(plan, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow)) assumed.push_back(std::move(sentence));
  return plan;
}

}  // namespace

Plan plan_of(const LayoutOptions& layouts, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  return in_files(loaded.files, [&] { return plan_in_words(layouts, loaded, assumed); });
}

Plan load_plan(const std::string& source, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  Plan plan = document_of<Plan>(source);
  in_file(source_name<Plan>(source), [&] { check_plan(plan, loaded.workflow, loaded.cluster); });
  assumed.clear();
  if (loaded.profile) assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow)) assumed.push_back(std::move(sentence));
  return plan;
}

void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen) {
  prediction.coefficients = chosen.name;
  prediction.framework = chosen.framework;
}

}  // namespace sextant::inline ask
