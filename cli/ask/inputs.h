// The options of predict and plan for a cluster, a workflow and coefficients.
#pragma once

#include <string>

#include "ask/inputs.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

void add_model_inputs(const Command& command, ModelInputs& inputs);

// Calls load_inputs. Shipped coefficients are recorded in the provenance of this process.
[[nodiscard]] LoadedInputs load(const ModelInputs& inputs);

// Calls load_plan, and prints what it assumes to stderr.
[[nodiscard]] Plan load_plan_aloud(const std::string& file, const LoadedInputs& loaded);

// Returns tables for people.
[[nodiscard]] std::string describe_prediction(const Prediction& prediction);

}  // namespace sextant::cli
