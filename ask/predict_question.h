// A question for the time and memory of one plan.
#pragma once

#include <string>
#include <vector>

#include "ask/inputs.h"

namespace sextant::inline ask {

struct PlanToPredict {
  std::string plan;       // a source (document_source.h)
  LayoutOptions layouts;  // if there is no plan document
  bool has_sensitivities = false;
};

struct PredictedPlan {
  Plan plan;
  Prediction prediction;
  std::vector<std::string> broken;  // rules of the framework; also the first notes of the prediction
};

// Throws Error(bad_input) if the question has neither a plan nor layouts.
void require_plan(const PlanToPredict& question);

// Takes the framework that all plan documents name, if the inputs name none, and adds a note that says so.
void follow_plans(const std::vector<std::string>& plans, ModelInputs& inputs, std::vector<std::string>& notes);

// The plan of the question, complete; the notes of its prediction say what was assumed.
[[nodiscard]] PredictedPlan plan_in_question(const PlanToPredict& question, const LoadedInputs& loaded);

// Predicts the plan with intervals. Notes on what the framework cannot run of it come first.
void predict_as_asked(const PlanToPredict& question, const LoadedInputs& loaded, PredictedPlan& predicted);

}  // namespace sextant::inline ask
