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
  std::string coefficients;  // empty: those that ship; "none": all neutral
  std::string framework;     // empty: not said
};

struct LoadedInputs {
  Cluster cluster;
  Workflow workflow;
  ChosenCoefficients chosen;
  // How the framework executes tasks, of which planners choose. Nothing: as in HetRL's Appendix B.
  std::optional<FrameworkProfile> profile;
};

void add_model_inputs(const Command& command, ModelInputs& inputs);
[[nodiscard]] LoadedInputs load(const ModelInputs& inputs);

// Loads and checks a plan; every fault names the plan's file. What the document leaves out is filled in
// (fill_in_unstated); `assumed` receives the sentences about it, and without it they go to standard error.
[[nodiscard]] Plan load_plan(const std::string& file, const LoadedInputs& loaded,
                             std::vector<std::string>* assumed = nullptr);

// Writes into the prediction which coefficients made it.
void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen);

// Tables for a person.
[[nodiscard]] std::string describe_prediction(const Prediction& prediction);

}  // namespace sextant::cli
