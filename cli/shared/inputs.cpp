#include "cli/shared/inputs.h"

#include <utility>

#include "cli/shared/framework.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {

void add_model_inputs(const Command& command, ModelInputs& inputs) {
  command.add_option("--cluster", inputs.cluster, "Cluster document, from sextant probe").required();
  command.add_option("--workflow", inputs.workflow, "Workflow document").required();
  command.add_option(
      "--coefficients", inputs.coefficients,
      "Coefficients document, or \"none\" for the bare appendix; default on GPUs: those fitted to public runs");
  command.add_option("--framework", inputs.framework,
                     "Framework that runs the plan, such as verl, verl-megatron or nemo-rl: its coefficients "
                     "and how it executes tasks");
}

LoadedInputs load(const ModelInputs& inputs) {
  LoadedInputs loaded;
  loaded.cluster = load_document<Cluster>(inputs.cluster).content;
  loaded.workflow = load_document<Workflow>(inputs.workflow).content;
  ChosenFramework framework = choose_framework({inputs.coefficients, inputs.framework}, loaded.cluster);
  loaded.chosen = std::move(framework.chosen);
  loaded.profile = std::move(framework.profile);
  return loaded;
}

namespace {

// A plan that does not say how a batch is padded is padded as the named framework does.
void pad_as_framework(Plan& plan, const LoadedInputs& loaded, std::vector<std::string>& assumed) {
  if (!loaded.profile) return;
  for (const Task& task : loaded.workflow.tasks) {
    const auto of_kind = loaded.profile->tasks.find(task.kind);
    if (task.kind == TaskKind::generation || of_kind == loaded.profile->tasks.end()) continue;
    const std::optional<Padding> padding = of_kind->second.executions.front().padding;
    Execution& execution = plan.tasks.at(task.name).execution;
    if (!padding || execution.packed || execution.padding) continue;
    execution.padding = padding;
    if (execution.pads_to_longest())
      assumed.push_back(
          "Assumed for " + task.name + ", whose plan does not say: sequences are padded to the " +
          (*padding == Padding::batch ? "longest of the replica's batch" : "longest of a micro-batch") +
          " (padding), as " + loaded.profile->name + " does.");
  }
}

}  // namespace

Plan load_plan(const std::string& file, const LoadedInputs& loaded, std::vector<std::string>* assumed) {
  Plan plan = load_document<Plan>(file).content;
  try {
    check_plan(plan, loaded.workflow, loaded.cluster);
  } catch (const Error& error) {
    throw Error(error.kind(), file + ": " + error.what());
  }
  std::vector<std::string> sentences = fill_in_unstated(plan, loaded.workflow);
  pad_as_framework(plan, loaded, sentences);
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
