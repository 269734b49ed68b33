#include "ask/inputs.h"

#include <algorithm>
#include <utility>

#include "ask/document_source.h"
#include "ask/framework.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant {

LoadedInputs load_inputs(const ModelInputs& inputs) {
  if (inputs.cluster.empty() && inputs.cluster_in_words.gpus.empty())
    throw_bad_input("the cluster is missing: --cluster cluster.json, or --gpus, for example 4x8xH100");
  if (inputs.workflow.empty() && inputs.workflow_in_words.model.empty())
    throw_bad_input(
        "the workflow is missing: --workflow workflow.json, or --model, for example Qwen/Qwen3-14B");
  LoadedInputs loaded;
  std::vector<std::string> notes;
  loaded.cluster = inputs.cluster.empty() ? cluster_of(inputs.cluster_in_words, notes)
                                          : document_of<Cluster>(inputs.cluster);
  ChosenFramework framework = choose_framework({inputs.coefficients, inputs.framework}, loaded.cluster);
  loaded.chosen = std::move(framework.chosen);
  loaded.profile = std::move(framework.profile);
  loaded.workflow = inputs.workflow.empty() ? workflow_of(inputs.workflow_in_words,
                                                          loaded.profile ? &*loaded.profile : nullptr, notes)
                                            : document_of<Workflow>(inputs.workflow);
  require_trainer(inputs.framework, loaded.workflow);
  if (!inputs.save_inputs.empty()) {
    const std::filesystem::path folder = inputs.save_inputs;
    save_document(folder / "cluster.json", loaded.cluster);
    save_document(folder / "workflow.json", loaded.workflow);
  }
  loaded.chosen.notes.insert(loaded.chosen.notes.begin(), notes.begin(), notes.end());
  return loaded;
}

namespace {

// Tasks that only score have options of their own; offload= of --train decides for those whose weights the framework
// keeps or moves by the same setting.
void offload_like_training(const FrameworkProfile& profile, const Workflow& workflow, Plan& plan,
                           std::vector<std::string>& assumed) {
  const std::string training = workflow.has_task(task_names::kActorTraining) ? task_names::kActorTraining : "";
  const bool is_offloaded = !training.empty() && plan.tasks.at(training).execution.offload_weights;
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::inference) continue;
    bool& own = plan.tasks.at(task.name).execution.offload_weights;
    const bool is_common = std::any_of(
        profile.common_options.begin(), profile.common_options.end(), [&](const CommonOptions& common) {
          const auto has = [](const std::vector<std::string>& all, const std::string& one) {
            return std::find(all.begin(), all.end(), one) != all.end();
          };
          return has(common.options, "offload_weights") && has(common.tasks, training) &&
                 has(common.tasks, task.name);
        });
    if (is_common) own = is_offloaded;
    assumed.push_back("Assumed for " + task.name + ", as there is no offload in --inference: its weights " +
                      (own ? "leave the GPUs while other tasks run" : "stay on the GPUs") +
                      (is_common ? ", for which " + profile.name + " has one setting with " + training
                                 : ", as " + profile.name + " does") +
                      ".");
  }
}

}  // namespace

Plan plan_of(const LayoutOptions& layouts, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  Plan plan = plan_from_words(layouts, loaded.workflow, loaded.cluster);
  if (loaded.profile) {
    plan.weight_sync = loaded.profile->weight_sync;
    assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  }
  set_degrees(layouts, loaded.workflow, loaded.cluster, plan);
  const auto offloads = [](const std::string& words) { return words.find("offload=") != std::string::npos; };
  if (loaded.profile && offloads(layouts.train) && !offloads(layouts.inference))
    offload_like_training(*loaded.profile, loaded.workflow, plan, assumed);
  check_plan(plan, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow)) assumed.push_back(std::move(sentence));
  return plan;
}

Plan load_plan(const std::string& source, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  Plan plan = document_of<Plan>(source);
  try {
    check_plan(plan, loaded.workflow, loaded.cluster);
  } catch (const Error& error) {
    throw Error(error.kind(), source_name<Plan>(source) + ": " + error.what());
  }
  assumed.clear();
  if (loaded.profile) assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow)) assumed.push_back(std::move(sentence));
  return plan;
}

void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen) {
  prediction.coefficients = chosen.name;
  prediction.framework = chosen.framework;
}

}  // namespace sextant
