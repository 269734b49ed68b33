#include "cli/inputs.h"

#include "core/document.h"
#include "core/error.h"

namespace sextant::cli {

void add_model_inputs(CLI::App& command, ModelInputs& inputs) {
  command.add_option("--cluster", inputs.cluster, "Cluster document, from sextant probe")->required();
  command.add_option("--workflow", inputs.workflow, "Workflow document")->required();
  command.add_option(
      "--coefficients", inputs.coefficients,
      "Coefficients document, from sextant calibrate; without it the model is the bare appendix");
  command.add_option("--framework", inputs.framework, "Use the coefficients fitted to this framework");
}

LoadedInputs load(const ModelInputs& inputs) {
  LoadedInputs loaded;
  loaded.cluster = load_document<Cluster>(inputs.cluster).content;
  loaded.workflow = load_document<Workflow>(inputs.workflow).content;
  if (!inputs.coefficients.empty())
    loaded.coefficients = load_document<Coefficients>(inputs.coefficients).content;
  return loaded;
}

Plan load_plan(const std::string& file, const LoadedInputs& loaded) {
  Plan plan = load_document<Plan>(file).content;
  try {
    check_plan(plan, loaded.workflow, loaded.cluster);
  } catch (const Error& error) {
    throw Error(error.kind(), file + ": " + error.what());
  }
  return plan;
}

}  // namespace sextant::cli
