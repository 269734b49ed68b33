#include "cli/ask/inputs.h"

#include <utility>

#include "cli/shared/framework.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant::cli {

void add_model_inputs(const Command& command, ModelInputs& inputs) {
  const Option cluster =
      command.add_option("--cluster", inputs.cluster, "Cluster document, from sextant probe");
  const Option workflow = command.add_option("--workflow", inputs.workflow, "Workflow document");
  command.add_option("--coefficients", inputs.coefficients,
                     "Coefficients document, or \"none\" for neutral coefficients; default on GPUs: those "
                     "fitted to public runs");
  command.add_option("--framework", inputs.framework,
                     "Framework that runs the plan (verl, verl-megatron, nemo-rl, ...); sets coefficients and "
                     "execution options");
  command.add_output_folder(
      "--save-inputs", inputs.save_inputs,
      "Write cluster.json and workflow.json into this folder, to edit them or to ask again");
  const QuestionHandles question = add_question(command, inputs.cluster_in_words, inputs.workflow_in_words);
  (void)question.gpus.excludes(cluster);
  (void)question.model.excludes(workflow);
}

LoadedInputs load(const ModelInputs& inputs) {
  if (inputs.cluster.empty() && inputs.cluster_in_words.gpus.empty())
    throw_bad_input("the cluster is missing: --cluster cluster.json, or --gpus, for example 4x8xH100");
  if (inputs.workflow.empty() && inputs.workflow_in_words.model.empty())
    throw_bad_input(
        "the workflow is missing: --workflow workflow.json, or --model, for example Qwen/Qwen3-14B");
  LoadedInputs loaded;
  std::vector<std::string> notes;
  loaded.cluster = inputs.cluster.empty() ? cluster_of(inputs.cluster_in_words, notes)
                                          : load_document<Cluster>(inputs.cluster).content;
  ChosenFramework framework = choose_framework({inputs.coefficients, inputs.framework}, loaded.cluster);
  loaded.chosen = std::move(framework.chosen);
  loaded.profile = std::move(framework.profile);
  loaded.workflow = inputs.workflow.empty() ? workflow_of(inputs.workflow_in_words,
                                                          loaded.profile ? &*loaded.profile : nullptr, notes)
                                            : load_document<Workflow>(inputs.workflow).content;
  require_trainer(inputs.framework, loaded.workflow);
  if (!inputs.save_inputs.empty()) {
    const std::filesystem::path folder = inputs.save_inputs;
    save_document(folder / "cluster.json", loaded.cluster);
    save_document(folder / "workflow.json", loaded.workflow);
  }
  loaded.chosen.notes.insert(loaded.chosen.notes.begin(), notes.begin(), notes.end());
  return loaded;
}

Plan plan_of(const LayoutOptions& layouts, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  Plan plan = plan_from_words(layouts, loaded.workflow, loaded.cluster);
  if (loaded.profile) {
    plan.weight_sync = loaded.profile->weight_sync;
    assumed = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  }
  set_degrees(layouts, loaded.workflow, loaded.cluster, plan);
  check_plan(plan, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow)) assumed.push_back(std::move(sentence));
  return plan;
}

Plan load_plan(const std::string& file, const LoadedInputs& loaded, std::vector<std::string>* assumed) {
  Plan plan = load_document<Plan>(file).content;
  try {
    check_plan(plan, loaded.workflow, loaded.cluster);
  } catch (const Error& error) {
    throw Error(error.kind(), file + ": " + error.what());
  }
  std::vector<std::string> sentences;
  if (loaded.profile) sentences = fill_in_from_profile(plan, *loaded.profile, loaded.workflow, loaded.cluster);
  for (std::string& sentence : fill_in_unstated(plan, loaded.workflow))
    sentences.push_back(std::move(sentence));
  if (assumed != nullptr) {
    *assumed = std::move(sentences);
  } else {
    say(sentences);
  }
  return plan;
}

void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen) {
  prediction.coefficients = chosen.name;
  prediction.framework = chosen.framework;
}

}  // namespace sextant::cli
