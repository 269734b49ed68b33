#include "cli/ask/inputs.h"

#include <vector>

#include "cli/ask/question.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"

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
  LoadedInputs loaded = load_inputs(inputs);
  if (loaded.chosen.is_shipped) add_to_command_line({"--coefficients", loaded.chosen.name});
  return loaded;
}

Plan load_plan_aloud(const std::string& file, const LoadedInputs& loaded) {
  std::vector<std::string> assumed;
  Plan plan = load_plan(file, loaded, assumed);
  say(assumed);
  return plan;
}

}  // namespace sextant::cli
