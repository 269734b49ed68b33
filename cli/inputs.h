// The documents that predict and plan read: a cluster, a workflow, and coefficients if there are any.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant::cli {

struct ModelInputs {
  std::string cluster;
  std::string workflow;
  std::string coefficients;  // empty: those that ship; "none": all neutral
  std::string framework{kAny};
};

struct LoadedInputs {
  Cluster cluster;
  Workflow workflow;
  Coefficients coefficients;
  std::string note;  // what the user should know about them; may be empty
};

void add_model_inputs(CLI::App& command, ModelInputs& inputs);
[[nodiscard]] LoadedInputs load(const ModelInputs& inputs);
// The note, on stderr.
void say_note(const LoadedInputs& loaded);

// Loads and checks a plan; every fault names the plan's file.
[[nodiscard]] Plan load_plan(const std::string& file, const LoadedInputs& loaded);

// Tables for a person.
[[nodiscard]] std::string describe_prediction(const Prediction& prediction);

}  // namespace sextant::cli
