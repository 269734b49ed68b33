// A plan as the script of a training framework.
#pragma once

#include <string>
#include <vector>

#include "cli/ask/inputs.h"
#include "sextant/plan.h"

namespace sextant::cli {

// Names that --to accepts for plans: the dialects' profiles and their families, "verl-fsdp" and "verl".
[[nodiscard]] std::vector<std::string> trainer_names();

struct TrainerQuestion {
  ModelInputs inputs;  // cluster, workflow, coefficients
  std::string plan;    // file
  std::string to;      // one of trainer_names()
  std::string out;     // empty: stdout
};

// Loads the documents, writes the script, and lists on stderr what the framework cannot run as planned, with
// its cost. Returns kAnswerIsNo if the framework cannot run the layout at all.
int export_plan_file(const TrainerQuestion& question);

// The same for documents from any source.
int export_to_trainer(const Plan& plan, const LoadedInputs& loaded, const std::string& to,
                      const std::string& out);

}  // namespace sextant::cli
