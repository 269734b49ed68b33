#include "ask/inputs.h"

#include <algorithm>
#include <set>
#include <string_view>
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

// Takes the options that the words state out of "Assumed for TASK, whose plan does not say: A, B 2, C, as X does.", where
// `options` has their names; empty if no other is left.
std::string without_options(const std::string& sentence, const std::set<std::string>& options) {
  const std::size_t begin = sentence.find(": "), end = sentence.rfind(", as ");
  if (!sentence.starts_with("Assumed for ") || begin == std::string::npos || end == std::string::npos)
    return sentence;
  std::string kept;
  std::string_view rest = std::string_view(sentence).substr(begin + 2, end - begin - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    const std::string_view option = rest.substr(0, comma);
    if (!options.contains(std::string(option.substr(0, option.find(' ')))))
      kept += (kept.empty() ? "" : ", ") + std::string(option);
    rest = rest.substr(std::min(rest.size(), comma + 2));
  }
  return kept.empty() ? "" : sentence.substr(0, begin + 2) + kept + sentence.substr(end);
}

// The words are not assumed. `filled`: the plan as it was before they were set.
void leave_out_stated(const LayoutOptions& layouts, const LoadedInputs& loaded, const Plan& filled,
                      const Plan& plan, std::vector<std::string>& assumed) {
  Plan bare = plan_from_words(layouts, loaded.workflow, loaded.cluster);
  set_degrees(layouts, loaded.workflow, loaded.cluster, bare);
  for (const auto& [name, task] : plan.tasks) {
    const TaskPlan& before = filled.tasks.at(name);
    std::set<std::string> stated;
    const Json was = before.execution.to_json(), is = task.execution.to_json(),
               said = bare.tasks.at(name).execution.to_json();
    for (const auto& [option, value] : said.items()) stated.insert(option);
    for (const auto& [option, value] : was.items()) {
      if (!is.contains(option) || is.at(option) != value) stated.insert(option);
    }
    if (before.recompute != task.recompute || bare.tasks.at(name).recompute != Recompute::none)
      stated.insert("recompute");
    for (std::string& sentence : assumed) {
      if (sentence.starts_with("Assumed for " + name + ",")) sentence = without_options(sentence, stated);
      const bool is_of_cache =
          sentence.starts_with("With ") && sentence.find(name + " does not start") != std::string::npos;
      if (is_of_cache && stated.contains("kv_cache_bytes")) sentence.clear();
    }
  }
  std::erase(assumed, "");
}

Plan plan_in_words(const LayoutOptions& layouts, const LoadedInputs& loaded,
                   std::vector<std::string>& assumed) {
  Plan plan = plan_from_words(layouts, loaded.workflow, loaded.cluster);
  if (loaded.profile) {
    plan.weight_sync = loaded.profile->weight_sync;
    assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  }
  plan.framework = framework_of_plans(loaded);
  const Plan filled = plan;
  set_degrees(layouts, loaded.workflow, loaded.cluster, plan);
  leave_out_stated(layouts, loaded, filled, plan, assumed);
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
