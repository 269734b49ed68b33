// The inputs of predict and plan: a cluster and a workflow, as documents or in words, and coefficients if there
// are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ask/layout_text.h"
#include "cli/ask/question.h"
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
  ClusterOptions cluster_in_words;    // if there is no cluster document
  WorkflowOptions workflow_in_words;  // if there is no workflow document
  std::string coefficients;           // empty: the shipped ones; "none": all neutral
  std::string framework;              // empty: not given
  std::string save_inputs;            // folder for cluster.json and workflow.json; empty: not saved
};

struct LoadedInputs {
  Cluster cluster;
  Workflow workflow;
  ChosenCoefficients chosen;  // its notes include what was assumed about cluster and workflow
  // The framework's options for executing tasks, from which planners choose. nullopt: HetRL's Appendix B.
  std::optional<FrameworkProfile> profile;
};

void add_model_inputs(const Command& command, ModelInputs& inputs);
[[nodiscard]] LoadedInputs load(const ModelInputs& inputs);

// Loads and checks a plan; errors contain the plan's file. Unstated values are filled in (fill_in_unstated);
// `assumed` receives the sentences about them, or standard error if it is null.
[[nodiscard]] Plan load_plan(const std::string& file, const LoadedInputs& loaded,
                             std::vector<std::string>* assumed = nullptr);

// The plan of layouts in words, with everything else as the framework does it. Notes as for load_plan.
[[nodiscard]] Plan plan_of(const LayoutOptions& layouts, const LoadedInputs& loaded,
                           std::vector<std::string>& assumed);

// Writes into the prediction which coefficients were used.
void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen);

// Returns tables for people.
[[nodiscard]] std::string describe_prediction(const Prediction& prediction);

}  // namespace sextant::cli
