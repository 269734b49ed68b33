// The inputs of predict and plan: a cluster and a workflow, as documents or in words, and coefficients if there
// are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ask/coefficient_source.h"
#include "ask/question.h"
#include "ask/words/layout_text.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

struct ModelInputs {
  std::string cluster;  // a source (document_source.h); also the workflow
  std::string workflow;
  ClusterOptions cluster_in_words;    // if there is no cluster document
  WorkflowOptions workflow_in_words;  // if there is no workflow document
  std::string coefficients;           // a source; empty: the shipped ones; "none": all neutral
  std::string framework;              // empty: not given
  std::string save_inputs;            // folder for cluster.json and workflow.json; empty: not saved
};

struct LoadedInputs {
  Cluster cluster;
  Workflow workflow;
  ChosenCoefficients chosen;  // its notes include what was assumed about cluster and workflow
  // The framework's options for executing tasks, from which planners choose. nullopt: HetRL's Appendix B.
  std::optional<FrameworkProfile> profile;
  std::vector<std::string> files = {};  // of the user, for messages about contradictions between them
};

// Throws Error(bad_input) for inputs that are missing, contradict each other or cannot be read.
[[nodiscard]] LoadedInputs load_inputs(const ModelInputs& inputs);

// Loads and checks a plan from a source (document_source.h); errors contain its name. Unstated values are filled in
// (fill_in_unstated); `assumed` receives the sentences about them.
[[nodiscard]] Plan load_plan(const std::string& source, const LoadedInputs& loaded,
                             std::vector<std::string>& assumed);

// The framework that a plan made for these inputs names (Plan::framework): none for the usual engine and trainer.
[[nodiscard]] std::string framework_of_plans(const LoadedInputs& loaded);

// The plan of layouts in words, with everything else as the framework does it. Notes as for load_plan.
[[nodiscard]] Plan plan_of(const LayoutOptions& layouts, const LoadedInputs& loaded,
                           std::vector<std::string>& assumed);

// Writes into the prediction which coefficients were used.
void name_coefficients(Prediction& prediction, const ChosenCoefficients& chosen);

}  // namespace sextant::inline ask
