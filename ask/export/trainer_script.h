// A plan as the script of a training framework.
#pragma once

#include <string>
#include <vector>

#include "ask/inputs.h"
#include "sextant/plan.h"

namespace sextant::inline ask {

// Names of frameworks that plans can be exported to: the dialects' profiles and their families, "verl-fsdp" and
// "verl".
[[nodiscard]] std::vector<std::string> trainer_names();

struct TrainerQuestion {
  ModelInputs inputs;  // cluster, workflow, coefficients
  std::string plan;    // a source (document_source.h)
  std::string to;      // one of trainer_names()
};

struct ExportedScript {
  std::string text;                 // empty: the framework cannot run the layout
  std::string refusal;              // a sentence, if there is no text
  std::string framework;            // the profile: "verl-fsdp"
  std::string version;              // of the framework
  std::vector<std::string> unsaid;  // what the framework cannot run as planned, with its cost
  std::vector<std::string> notes;   // of the exporter
  std::vector<std::string> costs;   // as planned, if the script is of another plan, and as exported
  std::vector<std::string> inputs;  // what was assumed about the inputs
};

// Loads the documents and writes the script. Throws Error(bad_input).
[[nodiscard]] ExportedScript export_plan_of(const TrainerQuestion& question);

// The same for a plan and inputs that are loaded, with the profile of the framework. `to` stands in the refusal.
[[nodiscard]] ExportedScript export_to_trainer(const Plan& plan, const LoadedInputs& loaded,
                                               const std::string& to);

// Why the framework of the inputs has no script for a plan: a sentence. Empty if it has one, or if there is no exporter for it
// or for a custom graph.
[[nodiscard]] std::string why_no_script(const Plan& plan, const LoadedInputs& loaded);

}  // namespace sextant::inline ask
