// The documents that predict and plan read: a cluster, a workflow, and coefficients if there are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/shared/coefficient_source.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant::cli {

struct ModelInputs {
  std::string cluster;
  std::string workflow;
  std::string coefficients;  // empty: the shipped ones; "none": all neutral
  std::string framework;     // empty: not given
};

struct LoadedInputs {
  Cluster cluster;
  Workflow workflow;
  ChosenCoefficients chosen;
  // The framework's options for executing tasks, from which planners choose. nullopt: HetRL's Appendix B.
  std::optional<FrameworkProfile> profile;
};

void add_model_inputs(const Command& command, ModelInputs& inputs);
[[nodiscard]] LoadedInputs load(const ModelInputs& inputs);

// Loads and checks a plan; errors contain the plan's file. Unstated values are filled in (fill_in_unstated);
// `assumed` receives the sentences about them, or standard error if it is null.
[[nodiscard]] Plan load_plan(const std::string& file, const LoadedInputs& loaded,
                             std::vector<std::string>* assumed = nullptr);

// Writes into the prediction which coefficients were used.
void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen);

// Returns tables for people.
[[nodiscard]] std::string describe_prediction(const Prediction& prediction);

}  // namespace sextant::cli
