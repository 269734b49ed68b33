#include "cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "calibrate/claims/public_fit.h"
#include "cli/data_files.h"
#include "core/document.h"
#include "core/error.h"

namespace sextant::cli {

void add_model_inputs(CLI::App& command, ModelInputs& inputs) {
  command.add_option("--cluster", inputs.cluster, "Cluster document, from sextant probe")->required();
  command.add_option("--workflow", inputs.workflow, "Workflow document")->required();
  command.add_option("--coefficients", inputs.coefficients,
                     "Coefficients document, from sextant calibrate, or \"none\" for the bare appendix; without it, on "
                     "GPUs, those fitted to public runs of the framework");
  command.add_option("--framework", inputs.framework, "Use the coefficients fitted to this framework: verl-fsdp, ...");
}

namespace {

constexpr const char* kNone = "none";

bool has_cpus(const Cluster& cluster) {
  const auto& types = cluster.device_types();
  return std::any_of(types.begin(), types.end(),
                     [](const auto& named) { return named.second.kind == DeviceKind::cpu; });
}

// Coefficients of public runs, which are all of GPUs: nothing to go by on CPU cores.
std::optional<std::filesystem::path> shipped_coefficients(const Cluster& cluster, const std::string& framework) {
  if (has_cpus(cluster)) return std::nullopt;
  const std::filesystem::path file =
      data_folder() / "coefficients" / (std::string(family_of_framework(framework)) + ".json");
  if (!std::filesystem::exists(file)) return std::nullopt;
  return file;
}

}  // namespace

LoadedInputs load(const ModelInputs& inputs) {
  LoadedInputs loaded;
  loaded.cluster = load_document<Cluster>(inputs.cluster).content;
  loaded.workflow = load_document<Workflow>(inputs.workflow).content;
  if (inputs.coefficients.empty()) {
    if (const auto file = shipped_coefficients(loaded.cluster, inputs.framework)) {
      loaded.coefficients = load_document<Coefficients>(*file).content;
      loaded.note = "no --coefficients: used those fitted to public runs, " + file->filename().string();
    }
  } else if (inputs.coefficients != kNone) {
    loaded.coefficients = load_document<Coefficients>(inputs.coefficients).content;
  }
  return loaded;
}

void say_note(const LoadedInputs& loaded) {
  if (!loaded.note.empty()) std::fprintf(stderr, "sextant: %s\n", loaded.note.c_str());
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
